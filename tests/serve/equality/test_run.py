"""Whole comparisons of stand-ins, honest and lying, each arm a process of its own."""

import json
import struct
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from lanewright.errors import MismatchError
from lanewright.serve.child import BootError
from lanewright.serve.environment import LaneEnv
from lanewright.serve.equality.asked import Mode
from lanewright.serve.equality.compare import Row
from lanewright.serve.equality.prompts import MAX_TOKENS, PROMPTS
from lanewright.serve.equality.run import Equality, equality
from lanewright.serve.equality.verdict import Judged
from tests.serve.equality.fresh import TREE, fresh
from tests.serve.stand_in import lay_pin, lay_stand_in

ON: Mapping[str, object] = {"moe_usage_counter": True}
PLACE = [3, 17]
TOKENS = sum(len(prompt.encode()) for prompt in PROMPTS) + len(PROMPTS) * (MAX_TOKENS - 1)


def compared(
    folder: Path,
    lane: LaneEnv,
    *,
    engine: Mapping[str, object] = ON,
    modes: Sequence[Mode] = ("eager",),
    **pin_lies: Any,  # noqa: ANN401
) -> Equality:
    with ExitStack() as after_record:
        return equality(
            lay_pin(folder / "pin", **pin_lies),
            lane,
            baseline=TREE,
            model=folder / "model",
            engine=engine,
            folder=folder / "equality",
            device="cpu",
            modes=modes,
            resuming=fresh(folder),
            after_record=after_record,
        )


def rows(judged: Judged) -> dict[str, Row]:
    return {row.arm: row for row in judged.rows}


def number(bits: int) -> float:
    (found,) = struct.unpack("<f", struct.pack("<I", bits))
    return float(found)


def specs(folder: Path, name: str) -> dict[str, dict[str, Any]]:
    spec = json.loads((folder / "equality" / f"{name}.spec.json").read_text())
    return {arm["name"]: arm for arm in spec["arms"]}


def test_an_honest_lane_is_equal_in_both_modes(tmp_path: Path) -> None:
    found = compared(tmp_path, lay_stand_in(tmp_path), modes=("eager", "compiled"))
    assert (found.verdict, found.baseline, found.tokens) == ("equal", TREE, 64)
    assert found.exchanged == "model.layers.1.mlp.experts"
    assert [judged.mode for judged in found.modes] == ["eager", "compiled"]
    for judged in found.modes:
        assert (judged.verdict, judged.why) == ("equal", "")
        assert judged.distinct >= 200
        assert [*rows(judged)] == ["self", "exchanged", "off", "on"]
        for arm in ("self", "off", "on"):
            assert rows(judged)[arm].equal == rows(judged)[arm].prompts == 44
        assert rows(judged)["exchanged"].equal < 44
    assert [*found.proofs] == ["eager.off", "eager.on", "compiled.off", "compiled.on"]
    for mode in ("eager", "compiled"):
        (off,), (on,) = found.proofs[f"{mode}.off"], found.proofs[f"{mode}.on"]
        assert (off.on, on.on) == (False, True)
        assert (on.facts["tokens"], on.facts["picks"]) == (TOKENS, TOKENS * 2 * 3)


def test_every_arm_is_told_what_it_must_be(tmp_path: Path) -> None:
    engine = {**ON, "enforce_eager": True, "max_model_len": 600}
    compared(tmp_path, lay_stand_in(tmp_path), engine=engine, modes=("compiled",))
    pin, lane = specs(tmp_path, "pin"), specs(tmp_path, "lane")
    plain = {"enforce_eager": False, "max_model_len": 600, "enable_prefix_caching": False}
    assert pin["compiled.baseline"]["engine"] == pin["compiled.self"]["engine"] == plain
    assert [arm["exchange"] for arm in pin.values()] == [False, True]
    extension = {"worker_extension_cls": "expert_bank.glue.extension.WorkerExtension"}
    worker = {"worker_cls": "expert_bank.glue.cpu_worker.CPUWorker"}
    assert lane["compiled.off"]["engine"] == plain | extension
    assert lane["compiled.on"]["engine"] == {**plain, **extension, **worker, **ON}
    for arm in (*pin.values(), *lane.values()):
        assert (arm["prompts"], arm["max_tokens"], arm["exact"]) == ([*PROMPTS], 64, True)
    assert "'VLLM_DISABLE_COMPILE_CACHE': '1'" in (tmp_path / "equality/pin.log").read_text()


def test_a_worker_that_the_lane_names_is_not_asked_of_the_pin(tmp_path: Path) -> None:
    named = {
        "worker_cls": "expert_bank.glue.cpu_worker.CPUWorker",
        "worker_extension_cls": "expert_bank.glue.extension.WorkerExtension",
    }
    found = compared(tmp_path, lay_stand_in(tmp_path), engine={**ON, **named})
    assert found.verdict == "equal"
    assert not named.keys() & specs(tmp_path, "pin")["eager.baseline"]["engine"].keys()
    assert "worker_cls" not in specs(tmp_path, "lane")["eager.off"]["engine"]


def test_answers_that_the_engine_would_cut_short_are_refused_before_any(tmp_path: Path) -> None:
    longest = max(len(prompt.encode()) for prompt in PROMPTS)
    for room, folder in ((63, tmp_path / "short"), (64, tmp_path / "just")):
        engine = {**ON, "max_model_len": longest + room}
        lane = lay_stand_in(folder)
        if room == MAX_TOKENS:
            assert compared(folder, lane, engine=engine).verdict == "equal"
            continue
        with pytest.raises(BootError, match=r"in arm eager\.baseline") as caught:
            compared(folder, lane, engine=engine)
        assert (
            f"has {longest} tokens, and an answer of 64 behind it does not fit max_model_len"
            f" {longest + 63}: say at most 63 in [equality] tokens, or more in [engine]"
        ) in str(caught.value)


@pytest.mark.parametrize("what", ["token", "logprob"])
def test_a_lane_that_differs_is_told_to_the_place(tmp_path: Path, what: str) -> None:
    lies = {"flip": {"place": PLACE, "what": what}}
    found = compared(tmp_path, lay_stand_in(tmp_path, lies=lies))
    (judged,) = found.modes
    assert (found.verdict, judged.verdict, judged.why) == ("differs", "differs", "off, on")
    written = json.loads((tmp_path / "equality" / "pin.eager.baseline.json").read_text())
    answer = written["completions"][2]
    token, ((_, likeliest), (second, next_likely)) = answer["ids"][17], answer["likeliest"][17]
    for arm in ("off", "on"):
        row = rows(judged)[arm]
        assert row.equal == 43
        assert row.first
        assert (row.first.number, row.first.index, row.first.what) == (3, 17, what)
        assert row.first.prompt == PROMPTS[2]
        assert row.first.baseline == token
        assert row.first.other == (second if what == "token" else token)
        assert row.first.gap == round(number(likeliest) - number(next_likely), 6)


def test_a_feature_that_changes_an_answer_is_named_alone(tmp_path: Path) -> None:
    lies = {"flip": {"place": PLACE, "what": "logprob", "only_on": True}}
    found = compared(tmp_path, lay_stand_in(tmp_path, lies=lies))
    (judged,) = found.modes
    assert (judged.verdict, judged.why) == ("differs", "on")
    assert rows(judged)["off"].first is None


def test_an_answer_that_ends_early_differs(tmp_path: Path) -> None:
    found = compared(tmp_path, lay_stand_in(tmp_path, lies={"short": [2, 10]}))
    first = rows(found.modes[0])["on"].first
    assert first
    assert (first.number, first.index, first.other) == (2, 10, None)
    assert first.baseline is not None


def test_a_logprob_that_is_no_number_differs_and_its_gap_is_left_out(tmp_path: Path) -> None:
    found = compared(tmp_path, lay_stand_in(tmp_path), nan=PLACE)
    first = rows(found.modes[0])["on"].first
    assert found.verdict == "differs"
    assert first
    assert (first.what, first.gap) == ("logprob", None)


@pytest.mark.parametrize(
    ("lies", "why"),
    [
        ({"unsteady": 2}, "the baseline differs from itself in 2 answers"),
        ({"deaf": True}, "exchanged, which must differ, is equal"),
        ({"vocabulary": 150}, "the answers hold 150 distinct tokens, fewer than 200"),
        ({"short": [2, 10]}, "an answer of the baseline has 10 tokens, fewer than 64"),
    ],
)
def test_a_baseline_that_could_show_nothing_is_inconclusive(
    tmp_path: Path, lies: dict[str, Any], why: str
) -> None:
    found = compared(tmp_path, lay_stand_in(tmp_path, lies=lies), **lies)
    (judged,) = found.modes
    assert (found.verdict, judged.verdict, judged.why) == ("inconclusive", "inconclusive", why)


def test_a_lane_that_was_not_compiled_is_not_compared_as_if(tmp_path: Path) -> None:
    lane = lay_stand_in(tmp_path, lies={"uncompiled": True})
    found = compared(tmp_path, lane, modes=("eager", "compiled"))
    eager, compiled = found.modes
    assert (eager.verdict, compiled.verdict) == ("equal", "inconclusive")
    assert compiled.why == "compiled.off did not run compiled; compiled.on did not run compiled"


def test_a_lane_with_no_feature_on_has_no_arm_for_it(tmp_path: Path) -> None:
    found = compared(tmp_path, lay_stand_in(tmp_path), engine={})
    assert found.verdict == "equal"
    assert [*rows(found.modes[0])] == ["self", "exchanged", "off"]
    assert [*found.proofs] == ["eager.off"]


def test_a_lane_without_the_overlay_is_compared_and_proves_nothing(tmp_path: Path) -> None:
    found = compared(tmp_path, lay_stand_in(tmp_path, bank=False, hook=False), engine={})
    assert (found.verdict, found.proofs) == ("equal", {"eager.off": ()})
    assert not specs(tmp_path, "lane")["eager.off"]["workers"]


@pytest.mark.parametrize(
    ("lies", "told"),
    [
        ({"more_picks": 1}, f"equality, eager.on: .* counted {TOKENS * 6 + 1} picks"),
        ({"uncounted": 44}, f"equality, eager.on: .* they are {TOKENS}"),
        ({"replaced": True}, "equality, eager.off: moe_usage_counter is off, and worker"),
    ],
)
def test_equal_answers_do_not_help_a_lane_that_proves_the_wrong_thing(
    tmp_path: Path, lies: dict[str, Any], told: str
) -> None:
    with pytest.raises(MismatchError, match=told):
        compared(tmp_path, lay_stand_in(tmp_path, lies=lies))


@pytest.mark.parametrize("lies", [{"dies": True}, {"killed": 9}])
def test_a_pin_that_does_not_boot_is_no_verdict(tmp_path: Path, lies: dict[str, Any]) -> None:
    """What the lane is at is ended with it."""
    with pytest.raises(BootError) as caught:
        compared(tmp_path, lay_stand_in(tmp_path, lies={"hangs": True}), **lies)
    first, *_ = str(caught.value).splitlines()
    assert first.startswith("no baseline, so nothing was compared: the unpatched pin ")
    assert "in arm eager.baseline" in first
    assert caught.value.hint == f"read {tmp_path / 'equality' / 'pin.log'}"


def test_a_lane_that_does_not_boot_says_which_arm(tmp_path: Path) -> None:
    with pytest.raises(BootError, match=r"^lane ended with exit status 1 in arm eager\.off;"):
        compared(tmp_path, lay_stand_in(tmp_path, lies={"dies": True}))


def test_what_an_earlier_comparison_left_is_not_taken_for_this_ones(tmp_path: Path) -> None:
    (tmp_path / "equality").mkdir()
    with pytest.raises(FileExistsError, match="equality"):
        compared(tmp_path, lay_stand_in(tmp_path))
