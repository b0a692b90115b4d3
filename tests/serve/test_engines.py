"""One arm after another, each a fork of one process."""

import json
import os
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from lanewright.errors import MismatchError
from lanewright.serve.boot import EXTENSION, WORKERS
from lanewright.serve.child import BootError
from lanewright.serve.counter import counted as proven
from lanewright.serve.engines import Arm, starting
from lanewright.serve.environment import LaneEnv
from lanewright.serve.evidence import Evidence
from tests.serve.stand_in import lay_stand_in
from tests.upstream.compiled import compiled

LONG = "A prompt of more than sixteen tokens, so that a block of it is cached."


def arm(name: str, *prompts: str, **wanted: Any) -> Arm:  # noqa: ANN401
    settings: dict[str, Any] = {"engine": {}, "prompts": prompts or ("A", "B"), "max_tokens": 8}
    return Arm(name=name, **settings | wanted)


def run(env: LaneEnv, folder: Path, *arms: Arm, **more: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    with starting(env, folder / "model", arms, folder, name="some", **more) as running:
        return running.wait()


def test_vllm_is_imported_once_and_no_arm_sees_what_another_left(tmp_path: Path) -> None:
    found = run(lay_stand_in(tmp_path), tmp_path, arm("one"), arm("two"), arm("three"))
    assert (tmp_path / "some.log").read_text().count("vLLM is imported") == 1
    texts = [[answer["text"] for answer in each["completions"]] for each in found]
    assert texts == [["8 tokens of engine 1"] * 2] * 3
    assert len({each["seconds"]["import"] for each in found}) == 1


def test_each_arm_has_its_own_engine_prompts_and_length(tmp_path: Path) -> None:
    engine = {"worker_extension_cls": EXTENSION, "tensor_parallel_size": 2}
    one, two = run(
        lay_stand_in(tmp_path),
        tmp_path,
        arm("one", "A", max_tokens=3),
        arm("two", "B", "C", max_tokens=5, engine=engine, workers=True),
    )
    assert [(answer["prompt"], len(answer["ids"])) for answer in one["completions"]] == [("A", 3)]
    assert [(a["prompt"], len(a["ids"])) for a in two["completions"]] == [("B", 5), ("C", 5)]
    assert (one["status"], one["usage"], len(two["status"])) == ([], [], 2)
    assert two["usage"] == [None, None]


def test_arms_that_continue_are_answered_by_one_engine(tmp_path: Path) -> None:
    """What it had done before is told, so that what it counts is accounted for."""
    ours = {"worker_extension_cls": EXTENSION, "worker_cls": WORKERS["cpu"]}
    engine = {**ours, "moe_usage_counter": True}
    one, two, three, alone = run(
        lay_stand_in(tmp_path),
        tmp_path,
        arm("one", engine=engine, workers=True),
        arm("two", "C", engine=engine, workers=True, continues=True),
        arm("three", engine=engine, workers=True, continues=True, together=[2]),
        arm("alone", engine=engine, workers=True),
    )
    counted = [each["usage"][0]["tokens"] for each in (one, two, three, alone)]
    before = [each["earlier"]["tokens"] for each in (one, two, three, alone)]
    # Of "A", "B" and "C" each is one token, behind which eight are given.
    assert counted == [16, 24, 56, 16]
    assert before == [0, 16, 24, 0]
    assert [each["seconds"]["engine"] > 0 for each in (one, two, three, alone)] == [
        True,
        False,
        False,
        True,
    ]
    for each in (one, two, three, alone):
        proof = proven(Evidence.read(each), "here", engine)
        assert proof.facts["tokens"] == proof.facts["tokens_by_answers"]


def test_an_arm_boots_an_engine_where_there_is_none_to_continue(tmp_path: Path) -> None:
    (found,) = run(lay_stand_in(tmp_path), tmp_path, arm("two", continues=True))
    assert found["earlier"] == {"tokens": 0, "banks": []}
    assert [each["text"] for each in found["completions"]] == ["8 tokens of engine 1"] * 2


def test_engines_keep_to_the_cores_that_they_are_told(tmp_path: Path) -> None:
    env, own = lay_stand_in(tmp_path), len(os.sched_getaffinity(0))
    for cores, counted in ((None, own), ([own - 1], 1), ([*range(own)], own)):
        (found,) = run(env, tmp_path, arm("one"), cores=cores)
        assert found["cores"] == counted
    assert len(os.sched_getaffinity(0)) == own


def test_an_engine_of_another_tree_is_a_mismatch(tmp_path: Path) -> None:
    other = lay_stand_in(tmp_path)
    (tmp_path / "python").write_text(
        f"#!/bin/sh\nexport PYTHONPATH={other.site} PYTHONPYCACHEPREFIX={compiled()}\n"
        f'exec {sys.executable} -S "$@"\n'
    )
    env = LaneEnv(other.python, tmp_path / "tree", other.bytecode)
    with pytest.raises(MismatchError, match=r"imported vLLM from .*, which is not in the tree"):
        run(env, tmp_path, arm("one"))


def test_spec_log_and_results_stay_in_the_folder(tmp_path: Path) -> None:
    found = run(lay_stand_in(tmp_path), tmp_path, arm("one"), arm("two"))
    kept = {path.name for path in tmp_path.glob("some.*")}
    assert kept == {"some.spec.json", "some.log", "some.one.json", "some.two.json"}
    spec = json.loads((tmp_path / "some.spec.json").read_text())
    assert [each["name"] for each in spec["arms"]] == ["one", "two"]
    assert json.loads((tmp_path / "some.two.json").read_text()) == found[1]


def test_an_engine_is_told_where_its_model_is_without_links(tmp_path: Path) -> None:
    """A container is given the folder that they lead to, where that is."""
    (tmp_path / "it").mkdir()
    (tmp_path / "model").symlink_to("it")
    run(lay_stand_in(tmp_path), tmp_path, arm("one"))
    (spec,) = json.loads((tmp_path / "some.spec.json").read_text())["arms"]
    assert spec["model"] == str(tmp_path / "it")


@pytest.mark.parametrize(
    ("lie", "told"),
    [
        ({"dies": True}, "some ended with exit status 1 in arm two;"),
        ({"killed": 11}, "some was ended by SIGSEGV in arm two;"),
    ],
)
def test_an_arm_that_fails_is_named_and_is_the_last(
    tmp_path: Path, lie: dict[str, Any], told: str
) -> None:
    arms = (arm("one"), arm("two", engine={"lies": lie}), arm("three"))
    with pytest.raises(BootError) as caught:
        run(lay_stand_in(tmp_path), tmp_path, *arms)
    assert str(caught.value).startswith(told)
    assert caught.value.hint == f"read {tmp_path / 'some.log'}"
    assert {path.name for path in tmp_path.glob("some.*.json")} == {
        "some.spec.json",
        "some.one.json",
    }
    log = (tmp_path / "some.log").read_text()
    assert "arm two: failed" in log
    assert "arm three" not in log


def test_a_process_that_fails_after_every_arm_blames_none(tmp_path: Path) -> None:
    with pytest.raises(BootError, match=r"^some ended with exit status 3; the end of"):
        run(lay_stand_in(tmp_path, lies={"late": 3}), tmp_path, arm("one"), arm("two"))
    assert len([*tmp_path.glob("some.*.json")]) == 3


def test_what_is_asked_for_beside_the_lanes_environment_reaches_vllm(tmp_path: Path) -> None:
    run(lay_stand_in(tmp_path), tmp_path, arm("one"), environ={"VLLM_OF_THIS_TEST": "yes"})
    log = (tmp_path / "some.log").read_text()
    assert "'VLLM_OF_THIS_TEST': 'yes'" in log
    assert "'VLLM_ENABLE_V1_MULTIPROCESSING': '0'" in log


def test_a_stop_token_is_passed_over(tmp_path: Path) -> None:
    few = arm("few", max_tokens=40, engine={"lies": {"vocabulary": 3}})
    (found,) = run(lay_stand_in(tmp_path), tmp_path, few)
    for answer in found["completions"]:
        assert len(answer["ids"]) == 40
        assert 0 in answer["ids"][:-1]


def test_an_exact_arm_keeps_the_bits_of_every_logprob(tmp_path: Path) -> None:
    plain, exact = run(lay_stand_in(tmp_path), tmp_path, arm("plain"), arm("exact", exact=True))
    for rough, answer in zip(plain["completions"], exact["completions"], strict=True):
        assert {*answer} - {*rough} == {"bits", "likeliest"}
        assert answer["ids"] == rough["ids"]
        places = zip(answer["ids"], answer["bits"], answer["likeliest"], strict=True)
        for token, bits, ((likeliest, logprob), (_, second)) in places:
            assert likeliest == token
            assert bits == logprob
            assert number(second) < number(logprob)


def number(bits: int) -> float:
    (found,) = struct.unpack("<f", struct.pack("<I", bits))
    return float(found)


def test_exchanged_rows_are_answered_after_and_beside_the_true_ones(tmp_path: Path) -> None:
    arms = (arm("plain", exact=True), arm("exchanged", exact=True, exchange=True))
    plain, other = run(lay_stand_in(tmp_path), tmp_path, *arms)
    assert plain["exchange"] is None
    assert other["completions"] == plain["completions"]
    assert other["exchange"]["layer"] == "model.layers.1.mlp.experts"
    assert other["exchange"]["completions"] != plain["completions"]


def test_both_passes_of_an_exchange_say_how_far_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompts = [f"prompt {number}" for number in range(11)]
    run(lay_stand_in(tmp_path), tmp_path, arm("one", *prompts, exact=True, exchange=True))
    said = capsys.readouterr().err
    assert said.count("some: arm one: 11 of 11 prompts (") == 1
    assert said.count("some: arm one: 11 of 11 prompts, rows exchanged (") == 1


BANKS = {
    "worker_cls": "expert_bank.glue.cpu_worker.CPUWorker",
    "worker_extension_cls": EXTENSION,
    "moe_hot_experts": "3",
    "enable_prefix_caching": False,
}
NAMES = [f"prompt {number}" for number in range(7)]


def test_prompts_are_asked_again_so_many_at_once_and_answered_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    many = [f"prompt {number}" for number in range(11)]
    wanted = {"together": (4, 11), "engine": {"enable_prefix_caching": False}, "exact": True}
    (found,) = run(lay_stand_in(tmp_path), tmp_path, arm("one", *many, **wanted))
    log = (tmp_path / "some.log").read_text()
    at_once = [line.split()[0] for line in log.splitlines() if line.endswith(" prompts at once")]
    assert at_once == ["4", "4", "3", "11"]
    assert [*found["together"]] == ["4", "11"]
    for answers in found["together"].values():
        assert answers == found["completions"]
        assert [answer["prompt"] for answer in answers] == many
    said = capsys.readouterr().err
    for how in ("", ", 4 at once", ", 11 at once"):
        assert said.count(f"some: arm one: 11 of 11 prompts{how} (") == 1


def test_each_pass_has_answers_of_its_own(tmp_path: Path) -> None:
    lies = {"flip": {"place": [len(NAMES) + 2, 5], "what": "token"}}
    wanted = {"together": (3,), "engine": {"lies": lies}}
    (found,) = run(lay_stand_in(tmp_path), tmp_path, arm("one", *NAMES, **wanted))
    pairs = enumerate(zip(found["completions"], found["together"]["3"], strict=True))
    assert [at for at, (alone, at_once) in pairs if alone["ids"] != at_once["ids"]] == [1]


def test_workers_tell_what_every_pass_came_to(tmp_path: Path) -> None:
    wanted = {"engine": BANKS, "workers": True}
    once, twice = run(
        lay_stand_in(tmp_path),
        tmp_path,
        arm("once", *NAMES, **wanted),
        arm("twice", *NAMES, **wanted, together=(3,)),
    )
    (before,), (after,) = once["usage"], twice["usage"]
    assert after["tokens"] == 2 * before["tokens"] > 0
    (banks,) = twice["banks"]
    assert banks["hot_picks"] + banks["cold_picks"] == sum(map(sum, after["counts"]))
    assert Evidence.read(twice).completions == Evidence.read(once).completions * 2


def test_what_is_called_comes_before_the_first_prompt(tmp_path: Path) -> None:
    wanted = {"engine": BANKS, "workers": True}
    still, swapped = run(
        lay_stand_in(tmp_path),
        tmp_path,
        arm("still", *NAMES, **wanted),
        arm("swapped", *NAMES, **wanted, calls=(("expert_bank_force", (1, 2, 7)),)),
    )
    (banks,), (moved,) = still["banks"], swapped["banks"]
    assert (banks["barriers"], banks["swaps"]) == (0, 0)
    # Before every forward, the first one's, too: two swaps in each of three layers.
    assert moved["barriers"] == moved["forwards"] == banks["forwards"] > 0
    assert moved["swaps"] == moved["forwards"] * 2 * 3
    assert moved["audit"] == []
    assert swapped["completions"] == still["completions"]
    assert swapped["usage"] == still["usage"]


def test_a_call_that_a_worker_does_not_know_is_told(tmp_path: Path) -> None:
    unknown = arm("one", engine=BANKS, calls=(("expert_bank_dance", ()),))
    with pytest.raises(BootError, match="no attribute 'expert_bank_dance'"):
        run(lay_stand_in(tmp_path), tmp_path, unknown)


def test_usage_is_kept_as_the_map_that_another_arm_starts_from(tmp_path: Path) -> None:
    kept = str(tmp_path / "usage.json")
    first, second = run(
        lay_stand_in(tmp_path),
        tmp_path,
        arm("first", *NAMES, engine=BANKS, workers=True, keeps=kept),
        arm("second", *NAMES, engine={**BANKS, "moe_boot_map": kept}, workers=True),
    )
    (usage,) = first["usage"]
    layers = dict(zip(usage["layers"], usage["counts"], strict=True))
    model = usage["model"]
    assert json.loads(Path(kept).read_text()) == {"schema": 1, "model": model, "layers": layers}
    most = sum(sum(sorted(row)[-3:]) for row in usage["counts"])
    assert first["banks"][0]["hot_picks"] < second["banks"][0]["hot_picks"] == most
    assert second["usage"] == first["usage"]


def test_every_workers_layers_are_kept(tmp_path: Path) -> None:
    kept = tmp_path / "usage.json"
    engine = {**BANKS, "tensor_parallel_size": 2}
    (found,) = run(
        lay_stand_in(tmp_path), tmp_path, arm("one", engine=engine, workers=True, keeps=str(kept))
    )
    first, second = found["usage"]
    assert first == second
    assert [*json.loads(kept.read_text())["layers"].values()] == first["counts"]


@pytest.mark.parametrize("workers", [True, False])
def test_where_nothing_is_counted_nothing_is_kept(tmp_path: Path, workers: bool) -> None:  # noqa: FBT001 - a parameter
    kept = tmp_path / "usage.json"
    engine = {"worker_extension_cls": EXTENSION}
    run(
        lay_stand_in(tmp_path),
        tmp_path,
        arm("one", engine=engine, workers=workers, keeps=str(kept)),
    )
    assert not kept.exists()


def test_cached_tokens_are_told(tmp_path: Path) -> None:
    (found,) = run(lay_stand_in(tmp_path), tmp_path, arm("one", LONG, LONG))
    assert [each["cached_tokens"] for each in found["completions"]] == [0, len(LONG) // 16 * 16]
    engine = {"enable_prefix_caching": False}
    (found,) = run(lay_stand_in(tmp_path), tmp_path, arm("two", LONG, LONG, engine=engine))
    assert [each["cached_tokens"] for each in found["completions"]] == [0, 0]
