"""Kernels of all engines are tuned by one file, and those that are tuned otherwise are not compared."""

import hashlib
import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lanewright.serve.equality.run import Equality, equality
from lanewright.serve.equality.tactics import other_tactics
from lanewright.serve.equality.told import lines
from tests.serve.equality.fresh import TREE, fresh
from tests.serve.stand_in import lay_pin, lay_stand_in

FILE = "every-engine/autotune_configs.json"
TUNES = ["first", "second"]
ARMS = ("eager.baseline", "eager.self", "eager.off", "eager.on")


def compared(folder: Path, lane_lies: Mapping[str, Any], **pin_lies: Any) -> Equality:  # noqa: ANN401
    """Pin and lane stand on one base, as they do in an image."""
    lane = lay_stand_in(folder, lies=lane_lies)
    pin = replace(lay_pin(folder / "pin", **pin_lies), python=lane.python, bytecode=lane.bytecode)
    with ExitStack() as after_record:
        return equality(
            pin,
            lane,
            baseline=TREE,
            model=folder / "model",
            engine={"moe_usage_counter": True},
            folder=folder / "equality",
            # One after the other, as on a GPU.
            device="cuda",
            modes=("eager",),
            resuming=fresh(folder),
            after_record=after_record,
        )


def digest(folder: Path) -> str:
    (file,) = folder.glob(f"caches/tactics/*/{FILE}")
    return hashlib.sha256(file.read_bytes()).hexdigest()


def tactics(found: Equality) -> dict[str, tuple[str | None, str | None]]:
    told = {arm: each["tactics"] for arm, each in found.engines.items()}
    assert all({*each["started"], *each["ended"]} <= {FILE} for each in told.values())
    return {arm: (each["started"].get(FILE), each["ended"].get(FILE)) for arm, each in told.items()}


def test_the_first_engine_tunes_and_the_others_add_what_they_alone_need(tmp_path: Path) -> None:
    found = compared(tmp_path, {"tunes": TUNES}, tunes=TUNES)
    assert (found.verdict, found.modes[0].why) == ("equal", "")
    files = tactics(found)
    first, last = files["eager.baseline"][1], files["eager.on"][1]
    assert files == {
        "eager.baseline": (None, first),
        "eager.self": (first, first),
        "eager.off": (first, first),
        "eager.on": (first, last),
    }
    assert first != last == digest(tmp_path)
    told = {"verdict": "equal", "modes": [], "engines": found.engines, "proofs": {}}
    assert first
    assert last
    (line,) = lines(told)
    assert line == (
        f"tactics, {FILE}: sha256 {first[:12]} eager.baseline, eager.self, eager.off;"
        f" {last[:12]} eager.on"
    )


def test_a_seed_is_every_engines(tmp_path: Path) -> None:
    """What is in the folder before, of an earlier run or by hand, is tuned by nobody again."""
    seed = tmp_path / "caches" / "tactics" / tmp_path.parent.name / FILE
    seed.parent.mkdir(parents=True)
    seed.write_text(json.dumps({name: ["Runner", 7] for name in (*TUNES, "hot", "cold")}))
    before = digest(tmp_path)
    found = compared(tmp_path, {"tunes": TUNES}, tunes=TUNES)
    assert found.verdict == "equal"
    assert tactics(found) == dict.fromkeys(ARMS, (before, before))


def test_an_arm_that_is_tuned_anew_is_not_compared(tmp_path: Path) -> None:
    """Not even where its answers differ: its kernels may be why."""
    flip = {"place": [3, 17], "what": "token", "only_on": True}
    found = compared(tmp_path, {"tunes": TUNES, "retunes": True, "flip": flip}, tunes=TUNES)
    (judged,) = found.modes
    assert (found.verdict, judged.verdict) == ("not compared", "not compared")
    assert judged.why == (
        "on is not compared: its kernels were tuned otherwise: of 2 tactics 2 other"
    )
    assert [row.arm for row in judged.rows] == ["self", "exchanged", "off"]
    # What is proven of its features stands all the same.
    assert [*found.proofs] == ["eager.off", "eager.on"]


def test_an_arm_that_differs_is_told_beside_one_that_is_not_compared(tmp_path: Path) -> None:
    flip = {"place": [3, 17], "what": "token"}
    found = compared(tmp_path, {"tunes": TUNES, "retunes": True, "flip": flip}, tunes=TUNES)
    (judged,) = found.modes
    assert (found.verdict, judged.verdict) == ("differs", "differs")
    assert judged.why.startswith("off; on is not compared: ")


def test_without_a_tuner_nothing_is_told(tmp_path: Path) -> None:
    found = compared(tmp_path, {})
    assert found.verdict == "equal"
    assert tactics(found) == dict.fromkeys(ARMS, (None, None))
    assert not [*lines({"modes": [], "engines": found.engines})]


def of(**entries: str) -> dict[str, Any]:
    return {
        "tactics": {"started": {}, "ended": {}, "entries": {"file": entries} if entries else {}}
    }


@pytest.mark.parametrize(
    ("baseline", "arm", "told"),
    [
        (of(a="1"), of(a="1"), ""),
        (of(a="1"), of(a="1", b="2"), ""),
        (of(), of(b="2"), ""),
        # Of an engine that no lanewright asked for it.
        ({}, {}, ""),
        (of(a="1", b="2"), of(a="1"), "of 2 tactics 1 missing"),
        (of(a="1", b="2"), of(a="1", b="3"), "of 2 tactics 1 other"),
        (of(a="1", b="2", c="3"), of(a="2"), "of 3 tactics 1 other, 2 missing"),
    ],
)
def test_what_is_other(baseline: dict[str, Any], arm: dict[str, Any], told: str) -> None:
    found = other_tactics(baseline, arm)
    assert found == (f"its kernels were tuned otherwise: {told}" if told else "")
