"""``lanewright residency cost``: from a lane, or from a checkpoint's config without one."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lanewright.__main__ import run
from tests.conftest import World

ROOT = Path(__file__).parents[2]
LANE = "gb300-twobank"
MACHINE, STATED = (str(ROOT / "machines" / f"{name}.toml") for name in ("gb300", "gb300-stated"))
CONFIG = {
    "model_type": "qwen3_moe",
    "hidden_size": 2048,
    "moe_intermediate_size": 768,
    "num_hidden_layers": 48,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "torch_dtype": "bfloat16",
}
Capture = pytest.CaptureFixture[str]
Cost = Callable[..., str]


@pytest.fixture
def cost(capfd: Capture) -> Cost:
    """Run it on this project; what it printed, and on an exit code what it said."""

    def asked(*arguments: str, code: int = 0, folder: Path = ROOT) -> str:
        assert run(["-C", str(folder), "residency", "cost", *arguments]) == code
        found = capfd.readouterr()
        return found.err if code else found.out

    return asked


def test_the_first_users_lane(cost: Cost) -> None:
    text = cost(LANE, "--machine", MACHINE, "--figures", STATED)
    for line in (
        "40 MoE layers of 384 experts, 6 a token; 17.92 MiB each ([model.experts] row), 6.72 GiB a layer",
        "from host memory   55.3 us, in place or copied; a whole layer 21.2 ms",
        "24.0% cold:  3.18 ms, 21.8% of a step, 1.01 GiB; 90.2 to 108 ms from the disk",
        "3 slots a layer: 120 rows, 2.10 GiB of device memory, 1.09 M tokens of KV cache: 43% of 2.54 M",
        "a copy pays from 1.04 reads of the row on: at the second one",
        "18094 rows a second, the whole cold bank in 197 ms; 4 swaps in a barrier of 64.00 MiB, 221 us",
        "disk: no tier, a place to load from: 268.80 GiB of experts fit; from 700.50 GiB on",
        "T, tokens of a user that a step computes, was not measured: searched from 2.24 (accepted) to 6",
        "unexplained",
        "41 of 47 figures reproduced",
        "not computed here",
    ):
        assert line in text, line


def test_as_values(cost: Cost) -> None:
    found = json.loads(cost(LANE, "--machine", MACHINE, "--figures", STATED, "--json"))
    assert found["schema"] == 1
    assert found["token"]["old map, by position"]["of_step"] == pytest.approx(0.218, abs=5e-4)
    assert found["fit"]["fitted"]["saved"]["8"] == pytest.approx(0.067, abs=5e-5)
    compared = found["figures"]["compared"]
    assert sum(each["reproduced"] for each in compared) == 41
    assert found["figures"]["not_computed"][0]["why"] == "measured"
    assert "figures" not in json.loads(cost(LANE, "--json"))


def test_a_lane_with_its_own_machine_alone(cost: Cost) -> None:
    text = cost(LANE)
    assert "uniform traffic   23.2% cold" in text
    assert "is not said: say [machine] nvme" in text
    text = cost(LANE, "--cold-share", "0.027", "--users", "8", "--tokens", "4", "--overlap", "0.5")
    assert "different experts of 4.00 tokens a user (as asked for), 50% hidden, skew 0" in text
    assert "as asked for   8 users:   5.1 rows a layer" in text


def test_what_is_given_is_taken(cost: Cost) -> None:
    found = json.loads(
        cost(LANE, "--hot", "384", "--slots", "1", "--budget", "1GiB", "--skew", "1.5", "--json")
    )
    assert found["bytes"]["cold_experts"] == 0
    assert found["slots"]["rows"] == 40
    assert found["copies"]["swaps"] == 58
    assert found["reading"]["skew"] == 1.5


def test_a_config_needs_no_lane_and_no_project(tmp_path: Path, cost: Cost) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(CONFIG))
    given = ("--config", str(file), "--machine", MACHINE)
    text = cost(*given, "--hot", "100", folder=tmp_path)
    assert "48 MoE layers of 128 experts, 8 a token; 9.00 MiB each (bfloat16)" in text
    assert "--hot 100" in cost(*given, folder=tmp_path, code=1)
    told = cost(*given, "--hot", "129", folder=tmp_path, code=1)
    assert "129 is more than layer 0's 128 experts" in told
    # The machine of a lane, and a model that it does not serve.
    assert "9.00 MiB each" in cost(LANE, "--config", str(file), "--hot", "100")


def test_plots(tmp_path: Path, cost: Cost) -> None:
    cost(LANE, "--machine", MACHINE, "--plots", str(tmp_path / "plots"))
    assert len(list((tmp_path / "plots").iterdir())) == 8


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("cpu-tiny",), "has no two banks (moe_hot_experts)"),
        (("cpu-tiny", "--hot", "8"), "next: give --machine FILE"),
        ((LANE, "--budget", "64MB"), "--budget is '64MB'"),
        ((LANE, "--machine", "/nowhere.toml"), "cannot read /nowhere.toml"),
        ((LANE, "--figures", "/nowhere.toml"), "cannot read /nowhere.toml"),
        ((LANE, "--figures", STATED), "nothing is computed at"),
        ((LANE, "--config", "/nowhere.json"), "cannot read /nowhere.json"),
        (("no-such-lane",), "unknown lane"),
    ],
)
def test_what_is_missing_is_told_with_what_to_type(
    cost: Cost, arguments: tuple[str, ...], told: str
) -> None:
    assert told in cost(*arguments, code=1)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--users", "0"),
        ("--tokens", "0"),
        ("--overlap", "1"),
        ("--skew", "-1"),
        ("--cold-share", "2"),
    ],
)
def test_numbers_that_are_none_are_no_command_line(arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["residency", "cost", *arguments])
    assert ended.value.code == 2


def test_without_a_project_a_lane_is_no_lane(tmp_path: Path, cost: Cost) -> None:
    assert "give both --config and --machine" in cost(LANE, folder=tmp_path, code=1)


@pytest.mark.parametrize("mode", ["mirror", "exclusive"])
def test_without_a_mirror_a_swap_moves_two_rows(world: World, capfd: Capture, mode: str) -> None:
    file = world.project.series_file("sample")
    text = file.read_text().replace('recipe = "qwen3-moe-tiny"', 'name = "a/b"')
    experts = '[model.experts]\nlayers = 4\nexperts = 64\npicks = 6\nrow = "1MiB"'
    machine = '[machine]\ndevice = "99GiB"\nhost = "99GiB"\nlink = 100'
    file.write_text(
        f'{text}\n{experts}\n{machine}\n[engine]\nmoe_hot_experts = "32"\nmoe_cold_rows = "{mode}"\n'
    )
    assert world.run("residency", "cost", "--json") == 0
    found: dict[str, Any] = json.loads(capfd.readouterr().out)
    assert found["copies"]["swaps"] == (64 if mode == "mirror" else 32)


def test_the_document_shows_what_is_printed(cost: Cost) -> None:
    printed = cost(LANE, "--machine", MACHINE, "--figures", STATED).splitlines()
    text = (ROOT / "docs" / "residency.md").read_text()
    blocks = re.findall(r"^```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 5
    for line in "".join(blocks).splitlines():
        assert line in printed, line
