"""``lanewright residency plan``: two banks on a machine that is not here."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lanewright.__main__ import run
from lanewright.residency.dry_run import PLAIN_BLOCK, QUANTIZED_BLOCK
from tests.conftest import World

ROOT = Path(__file__).parents[2]
SEED = "gb300-twobank"
Capture = pytest.CaptureFixture[str]
Plan = Callable[..., str]
GIB = 2**30
LARGE = (SEED, "--stage", "2", "--other", "30GiB")


@pytest.fixture
def plan(capfd: Capture) -> Plan:
    """Run it on this project's lanes; what it printed, and on an exit code what it said."""

    def asked(*arguments: str, code: int = 0) -> str:
        assert run(["-C", str(ROOT), "residency", "plan", *arguments]) == code
        found = capfd.readouterr()
        return found.out + found.err if code else found.out

    return asked


def told_of(plan: Plan, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(plan(*arguments, "--json"))
    return found


def test_the_first_users_figures(plan: Plan) -> None:
    """Seed 000: 206.5 GiB hot, 62.3 GiB cold, 18 MiB or less of tables; of 0.518 M tokens a GiB."""
    text = plan(SEED)
    for line in (
        "hot experts 206.50 GiB, cold experts 62.30 GiB",
        "tables and counts 360.00 KiB of the device",
        "hot: 11800 of 15360 experts (76.8%) in 40 layers; 15360 cold rows, mirror",
        "uniform traffic: 23.2% of picks cold",
        "over the link, at 340 GB/s: a row 55.3 us, all cold rows of a layer 4.92 ms",
        "staging buffer: 89 rows, 1.56 GiB of the device, 806784 tokens of KV cache",
        "staging buffer: 178 rows, 3.11 GiB of the device, 1613569 tokens of KV cache",
        "it takes 31.8% of the KV cache (4.90 GiB, 2538199 tokens)",
        "is staged from 1025 tokens on at 23.2% of picks cold (uniform traffic), by bytes from 252 on",
        "but up to 1024 a graph is replayed",
        "for each token that picked it and not for 8 at a time: from 65 tokens at 23.2% of picks cold",
    ):
        assert line in text, line
    found = told_of(plan, SEED)
    assert found["fits"]
    assert found["hot_bank"] / GIB == pytest.approx(206.5, abs=0.05)
    assert found["cold_experts"] / GIB == pytest.approx(62.3, abs=0.05)
    assert found["device"]["tables"] + found["device"]["counts"] <= 18 * 2**20
    assert found["staging"]["1"]["kv_tokens"] == 806784
    # A row of 17.92 MiB at 0.518 M tokens a GiB.
    tokens = 178 * 17.92 / 1024 * 518_000
    assert found["staging"]["2"]["kv_tokens"] == pytest.approx(tokens, abs=2)


@pytest.mark.parametrize(
    ("share", "least", "each"), [(0.027, 2163, 550), (0.205, 285, 73), (0.5, 117, 30)]
)
def test_the_smallest_staged_step_of_a_share(
    plan: Plan, share: float, least: int, each: int
) -> None:
    text = plan(SEED, "--cold-share", str(share), "--graph-tokens", "0")
    assert text.count(f"staged from {least} tokens on at {share:.1%} of picks cold (as asked") == 2
    told = f"from 65 tokens at 23.2% and {each} tokens at {share:.1%} of picks cold on"
    assert text.count(told) == 2
    text = plan(SEED, "--cold-share", str(share))
    assert f"staged from {max(least, 1025)} tokens on at {share:.1%} of picks cold (as" in text
    assert (f"by bytes from {least} on, but up to 1024" in text) is (least < 1025)
    assert "no step is staged: at 0.0% of picks cold" in plan(SEED, "--cold-share", "0")


@pytest.mark.parametrize(
    ("engine", "machine", "first"),
    [
        ("", "", 252),
        ("", "graph_tokens = 1024", 1025),
        ("enforce_eager = true", "graph_tokens = 1024", 252),
        ("max_cudagraph_capture_size = 600", "graph_tokens = 1024", 601),
        ("cudagraph_capture_sizes = [1, 300]", "graph_tokens = 1024", 301),
        ("compilation_config = {max_cudagraph_capture_size = 700}", "", 701),
        ("compilation_config = '{\"cudagraph_capture_sizes\": [400, 8]}'", "", 401),
        ('compilation_config = {cudagraph_mode = "none"}', "graph_tokens = 1024", 252),
        ("cudagraph_capture_sizes = [300, 900]\nmax_num_batched_tokens = 512", "", 301),
        ("max_num_batched_tokens = 2048", "graph_tokens = 1024", 1025),
        ("max_num_batched_tokens = 300", "graph_tokens = 1024", None),
    ],
)
def test_what_graphs_are_replayed_for_is_not_staged(
    world: World, capfd: Capture, engine: str, machine: str, first: int | None
) -> None:
    file = world.project.series_file("sample")
    text = file.read_text().replace('recipe = "qwen3-moe-tiny"', 'name = "a/b"')
    text = text.replace('device = "cpu"', 'device = "cuda"')
    experts = '[model.experts]\nlayers = 40\nexperts = 384\npicks = 6\nrow = "1MiB"'
    has = f'[machine]\ndevice = "99GiB"\nhost = "99GiB"\n{machine}'
    file.write_text(f"{text}\n{experts}\n{has}\n[engine]\n{engine}\n")
    assert world.run("residency", "plan", "--hot", "295") == 0
    found = capfd.readouterr().out
    assert ("is not known: say max_cudagraph_capture_size" in found) is (not engine and not machine)
    if first is not None:
        assert found.count(f"is staged from {first} tokens on at 23.2%") == 2
        assert ("by bytes from 252 on" in found) is (first != 252)
        return
    assert "no step is staged: at 23.2% of picks cold (uniform traffic) it takes 1025" in found
    assert world.run("residency", "plan", "--hot", "295", "--graph-tokens", "0") == 0
    assert "is staged from 252 tokens on" in capfd.readouterr().out


def test_a_step_that_the_lane_never_has_is_told_as_none(plan: Plan) -> None:
    text = plan(SEED, "--max-num-batched-tokens", "512")
    assert text.count("it takes 1025 tokens, by bytes from 252 on, but up to 1024 a graph") == 2
    assert text.count("at most 512; raise max_num_batched_tokens to 1025 or more") == 2
    assert "no step" not in plan(SEED, "--max-num-batched-tokens", "8192")
    assert "from 5 tokens on" in plan("cpu-staging")


def test_weights_that_are_not_quantized_are_read_by_our_own_kernel(
    world: World, capfd: Capture
) -> None:
    # Whose blocks are those of a start; it imports vLLM, and cannot be imported here.
    start = (ROOT / "overlay/expert_bank/glue/kernel_block.py").read_text()
    for name, block in (("TRTLLM", QUANTIZED_BLOCK), ("ROW_POINTERS", PLAIN_BLOCK)):
        assert f"\n{name} = {block}\n" in start
    file = world.project.series_file("sample")
    kept = file.read_text().replace('device = "cpu"', 'device = "cuda"')
    named = kept.replace('recipe = "qwen3-moe-tiny"', 'name = "a/b"')
    experts = '[model.experts]\nlayers = 4\nexperts = 64\npicks = 6\nrow = "1MiB"'
    machine = '[machine]\ndevice = "99GiB"\nhost = "99GiB"'
    recipe = ("qwen3-moe-tiny", "qwen3-moe-mxfp4-tiny")
    for text, block in (
        (f"{named}\n{experts}\n{machine}", QUANTIZED_BLOCK),
        (f"{named}\n{experts}\nplain = true\n{machine}", PLAIN_BLOCK),
        (f"{kept}\n{machine}", PLAIN_BLOCK),
        (f"{kept.replace(*recipe)}\n{machine}", QUANTIZED_BLOCK),
    ):
        file.write_text(f"{text}\n")
        assert world.run("residency", "plan", "--hot", "8", "--json") == 0
        assert json.loads(capfd.readouterr().out)["block"] == block


def test_pages_are_the_machines(plan: Plan) -> None:
    row = int(17.92 * 2**20)
    for page in (64 * 2**10, 2**20):
        given = ("--page", "1MiB") if page == 2**20 else ()
        layer = -(-384 * row // page) * page
        assert told_of(plan, SEED, *given)["host"]["cold bank, mirror"] == 40 * layer


def test_the_second_tables_are_in_the_sums(plan: Plan) -> None:
    text = plan(SEED, "--stage", "2")
    assert "240.00 KiB  tables of staged layers" in text
    assert "tables and counts 600.00 KiB of the device" in text


def test_json_has_what_was_asked_for(plan: Plan) -> None:
    asked = (SEED, "--cold-share", "0.027")
    found = told_of(plan, *asked, "--stage", "2GiB")
    row, layer = found["link"]["row"], found["link"]["layer"]
    assert found["link"]["gb_per_second"] == 340
    assert row == pytest.approx(17.92 * 2**20 / 340e9)
    assert layer == pytest.approx(89 * row)
    assert found["link"]["step"] == pytest.approx(40 * layer)
    assert found["steps"] == {
        "uniform": {
            "cold_share": pytest.approx(89 / 384),
            "least_tokens": 252,
            "staged_from": 1025,
        },
        "cold_share": {"cold_share": 0.027, "least_tokens": 2163, "staged_from": 2163},
    }
    assert (found["graph_tokens"], found["max_num_batched_tokens"]) == (1024, None)
    assert found["kv_pool"] == {"bytes": int(4.9 * GIB), "tokens": 2538199}
    wanted = found["asked"]
    assert (wanted["stage"], wanted["rows"], wanted["off"]) == ("2GiB", 114, "")
    assert wanted["bytes"] == 114 * staged_row(found) == found["device"]["staging buffer"]
    assert wanted["kv_pool_share"] == pytest.approx(wanted["bytes"] / (4.9 * GIB))
    assert found["staging"]["1"]["kv_pool_share"] == pytest.approx(0.318, abs=0.001)
    small = told_of(plan, *asked, "--stage", "1GiB", "--max-num-batched-tokens", "2000")
    assert small["asked"]["off"].startswith("a layer has 89 cold rows")
    assert small["steps"]["cold_share"]["staged_from"] is None
    assert small["steps"]["uniform"]["staged_from"] == 1025
    bare = told_of(plan, "cpu-twobank")
    assert (bare["link"], bare["kv_pool"], bare["asked"]) == (None, None, None)
    assert set(bare["steps"]) == {"uniform"}


def test_an_empty_text_is_what_it_says_and_not_what_the_series_says(plan: Plan) -> None:
    """No buffer; and no hot experts are nothing to plan."""
    assert "as asked for" in plan("cpu-staging")
    assert "as asked for" not in plan("cpu-staging", "--stage", "")
    assert "lane cpu-staging has no two banks (moe_hot_experts)" in plan(
        "cpu-staging", "--hot", "", code=1
    )


def test_exclusive_banks_and_a_buffer_are_in_the_sums(plan: Plan) -> None:
    plain, staged = told_of(plan, SEED), told_of(plan, SEED, "--stage", "2")
    more = sum(staged["device"].values()) - sum(plain["device"].values())
    assert more == 178 * staged_row(plain) + 40 * 384 * 16
    assert "with moe_prefill_stage as asked for:" in plan(SEED, "--stage", "2GiB")
    assert "nothing is staged: a layer has 89 cold rows (1.56 GiB)" in plan(SEED, "--stage", "1GiB")
    most = told_of(plan, SEED, "--hot", "384", "--device", "400GiB")
    assert most["staging"]["1"]["off"] == "no layer has cold experts"


def staged_row(found: dict[str, Any]) -> int:
    return int(found["staging"]["1"]["bytes"] // 89)


def test_what_does_not_fit_is_told_with_its_remedy(plan: Plan) -> None:
    text = plan(SEED, "--device", "200GiB", code=1)
    assert "device: 219.94 GiB at most, 200.00 GiB free: 19.94 GiB short" in text
    assert "the two-bank does not fit" in text
    assert "moe_hot_experts fit:" in text
    # Whoever does what it says is not told something else.
    hint = re.search(r"set moe_hot_experts (fit:[0-9]+MiB)", plan(*LARGE, code=1))
    assert hint
    assert told_of(plan, *LARGE, "--hot", hint[1])["fits"]
    host = plan(SEED, "--host", "200GiB", code=1)
    assert "set moe_cold_rows exclusive" in host
    # Other pinned tables are the host's, other weights the device's.
    assert "494.00 GiB free" in plan(SEED)
    assert "300.00 GiB  other tables of the model" in plan(SEED, "--pinned", "300GiB", code=1)
    assert "39.30 GiB  other weights" in plan(SEED, "--other", "39.3GiB", code=1)


@pytest.mark.parametrize(
    ("lane", "line"),
    [
        ("cpu-twobank", "4 MoE layers of 16 experts, 4 a token, 48.00 KiB each: 3.00 MiB"),
        ("cpu-mxfp4", "4 MoE layers of 16 experts, 4 a token, 12.75 KiB each: 816.00 KiB"),
        ("cpu-dsv4", "3 MoE layers of 384 experts, 6 a token, 12.75 KiB each: 14.34 MiB"),
        ("cpu-staging", "with moe_prefill_stage as asked for:"),
        ("cpu-file", "file: 3.00 MiB at most"),
    ],
)
def test_lanes_that_boot_here_are_planned_by_their_recipe(plan: Plan, lane: str, line: str) -> None:
    assert line in plan(lane)
    assert "this machine, as it is now" in plan(lane)
    assert "a machine with 2GiB of device memory" in plan(
        lane, "--device", "2GiB", "--host", "8GiB"
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("cpu-tiny",), "lane cpu-tiny has no two banks (moe_hot_experts)"),
        (("cpu-twobank", "--device", "2GiB"), "--host is not given"),
        (("cpu-twobank", "--hot", "17"), "17 is more than layer 0's 16 experts"),
        (("cpu-twobank", "--stage", "5"), "moe_prefill_stage '5'"),
        ((SEED, "--device", "250.7"), "[machine] device is '250.7', which is no size"),
        ((SEED, "--device", "0GiB"), "[machine] device is '0GiB', which is no size above 0"),
        ((SEED, "--kv-tokens", "1e308"), "[machine] kv_tokens is 1e+308, and must be from 1e-06"),
        ((SEED, "--link", "5e-324"), "[machine] link is 4.94066e-324, and must be"),
        (("cpu-file", "--stage", "2"), "moe_prefill_stage: with moe_cold_rows file"),
        (("no-such-lane",), "no-such-lane"),
    ],
)
def test_what_cannot_be_planned_is_refused(
    plan: Plan, arguments: tuple[str, ...], told: str
) -> None:
    assert told in plan(*arguments, code=1)


def test_sizes_of_graphs_that_are_no_list_are_refused(world: World, capfd: Capture) -> None:
    file = world.project.series_file("sample")
    text = file.read_text().replace('recipe = "qwen3-moe-tiny"', 'name = "a/b"')
    text = text.replace('device = "cpu"', 'device = "cuda"')
    experts = '[model.experts]\nlayers = 1\nexperts = 8\npicks = 2\nrow = "1MiB"'
    config = "compilation_config = {cudagraph_capture_sizes = {a = 5}}"
    file.write_text(f"{text}\n{experts}\n[engine]\n{config}\n")
    assert world.run("residency", "plan", "--hot", "2", "--device", "9GiB", "--host", "9GiB") == 1
    assert "cudagraph_capture_sizes has {'a': 5}, which is no number" in capfd.readouterr().err


def test_a_model_by_name_must_be_described(world: World, capfd: Capture) -> None:
    file = world.project.series_file("sample")
    text = file.read_text().replace('recipe = "qwen3-moe-tiny"', 'name = "a/b"')
    file.write_text(text.replace('device = "cpu"', 'device = "cuda"'))
    assert world.run("residency", "plan", "--hot", "2", "--device", "9GiB", "--host", "9GiB") == 1
    assert "whose experts nobody describes" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--link", "0"), "0 is not above 0"),
        (("--link", "x"), "'x' is no number"),
        (("--cold-share", "1.1"), "1.1 is no share: from 0 to 1"),
        (("--cold-share", "2.7%"), "'2.7%' is no number"),
        (("--kv-tokens", "-1"), "-1 is not above 0"),
        (("--graph-tokens", "-1"), "-1"),
        (("--graph-tokens", "many"), "'many' is no number"),
        (("--max-num-batched-tokens", "8k"), "'8k' is no number"),
        (("--max-num-batched-tokens", "0"), "0"),
    ],
)
def test_what_is_no_number_is_a_usage_error(
    arguments: tuple[str, ...], told: str, capfd: Capture
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["-C", str(ROOT), "residency", "plan", SEED, *arguments])
    assert ended.value.code == 2
    assert f"argument {arguments[0]}: {told}" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('[machine]\ndevice = "1GiB"\nhost = "1"', r"\[machine\] host is '1', which is no size"),
        ('[machine]\ndevice = "1GiB"', "missing required field `host`"),
        ('[machine]\ndevice = "1GiB"\nhost = "1GiB"\nlink = 0.0', r"\$\.machine\.link"),
        (
            '[machine]\ndevice = "1GiB"\nhost = "1GiB"\nkv_tokens = inf',
            r"kv_tokens is inf, and must",
        ),
        ('[machine]\ndevice = "1GiB"\nhost = "1GiB"\nlink = inf', r"link is inf, and must"),
        (
            '[model.experts]\nlayers = 100000000000\nexperts = 8\npicks = 2\nrow = "1MiB"',
            "<= 10000",
        ),
        ('[model.experts]\nlayers = 0\nexperts = 8\npicks = 2\nrow = "1MiB"', r"\$\.model\.exp"),
        ('[model.experts]\nlayers = 1\nexperts = 8\npicks = 9\nrow = "1MiB"', "9 of 8 experts"),
        ('[model.experts]\nlayers = 1\nexperts = 8\npicks = 2\nrow = "big"', "row is 'big'"),
        (
            '[model.experts]\nlayers = 1\nexperts = 8\npicks = 2\nrow = "1MiB"\n[engine]\nmoe_cold_rows = "bogus"',
            "moe_cold_rows is 'bogus', and must be one of mirror, exclusive, file",
        ),
        (
            '[model.experts]\nlayers = 1\nexperts = 8\npicks = 2\nrow = "1MiB"\n[engine]\ncompilation_config = "{"',
            "compilation_config is no JSON",
        ),
        *(
            (
                f'[model.experts]\nlayers = 1\nexperts = 8\npicks = 2\nrow = "1MiB"\n[engine]\n{argument}',
                rf"\[engine\] {argument.split(' = ')[0]} has {value}, which is no number of tokens",
            )
            for argument, value in (
                ('max_num_batched_tokens = "8k"', "'8k'"),
                ("max_num_batched_tokens = -1", "-1"),
                ('max_cudagraph_capture_size = "512"', "'512'"),
                ("max_cudagraph_capture_size = true", "True"),
                ('cudagraph_capture_sizes = ["a"]', "'a'"),
            )
        ),
        # As at a boot, which hands vLLM texts alone.
        *(
            (
                f'[model.experts]\nlayers = 1\nexperts = 8\npicks = 2\nrow = "1MiB"\n[engine]\n{argument}',
                f"engine argument {argument.replace(' = ', ' is ')}, and must be a text",
            )
            for argument in ("moe_prefill_stage = 0", "moe_prefill_stage = 2", "moe_cold_rows = 1")
        ),
    ],
)
def test_a_series_that_describes_them_wrongly_is_refused(
    world: World, capfd: Capture, lines: str, told: str
) -> None:
    file = world.project.series_file("sample")
    text = file.read_text().replace('recipe = "qwen3-moe-tiny"', 'name = "a/b"')
    if "compilation" in lines or "cudagraph" in lines:
        text = text.replace('device = "cpu"', 'device = "cuda"')
    file.write_text(f"{text}\n{lines}\n")
    assert world.run("residency", "plan", "--hot", "1") == 1
    assert re.search(told, capfd.readouterr().err)


def test_a_recipe_says_itself_what_its_experts_are(world: World, capfd: Capture) -> None:
    file = world.project.series_file("sample")
    kept = file.read_text()
    file.write_text(kept.replace("qwen3-moe-tiny", "none"))
    assert world.run("residency", "plan", "--hot", "1") == 1
    assert "none" in capfd.readouterr().err
    experts = '[model.experts]\nlayers = 1\nexperts = 8\npicks = 2\nrow = "1MiB"'
    file.write_text(f"{kept}\n{experts}\n")
    assert world.run("residency", "plan", "--hot", "1") == 1
    assert "the recipe says what they are" in capfd.readouterr().err
