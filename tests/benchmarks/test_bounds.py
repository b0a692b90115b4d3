"""What becomes of a bound that is not kept, and that of all benchmarks each is held."""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks import device, two_bank, usage_counter
from benchmarks.bounds import above, below, verdict
from benchmarks.intervals import Interval
from benchmarks.toggled import costs
from lanewright.errors import ExitCode

# Seconds by arm of each block, as one run of ``nox -s bench -- banks`` measured them.
RECORDED = json.loads(Path(__file__).with_name("recorded_banks.json").read_text())
Change = Callable[[int, Mapping[str, float]], float]


def with_on(change: Change) -> dict[str, Any]:
    """What was recorded, with other seconds in the steps that were on."""
    times = {
        batch: [{**each, "on": change(number, each)} for number, each in enumerate(blocks)]
        for batch, blocks in RECORDED["times"].items()
    }
    return {**RECORDED, "times": times}


def slower(share: float) -> dict[str, Any]:
    """What was recorded, with steps on that take so much of the self control's time more."""
    return with_on(lambda _, each: each["self"] * (1 + share))


def every(blocks: int, times: float) -> dict[str, Any]:
    """What was recorded, with one step of so many on that takes as many times as long."""
    return with_on(lambda number, each: each["self"] * (1 if number % blocks else times))


def test_a_bound_is_missed_where_the_whole_interval_lies_beyond_it() -> None:
    found = Interval(0.94, 0.93, 0.95)
    assert below("speed", found, 0.95) == []
    assert below("speed", found, 0.951) == ["speed 0.9400 [0.9300, 0.9500] does not reach 0.951"]
    assert above("added", found, 0.93) == []
    assert above("added", found, 0.92) == ["added 0.9 [0.9, 0.9] exceeds 0.92"]


def test_what_is_missed_is_told_and_ends_with_the_code_of_a_mismatch(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert verdict([]) is ExitCode.CLEAN
    assert capsys.readouterr().err == ""
    assert verdict(["a", "b"]) is ExitCode.MISMATCH
    assert capsys.readouterr().err == "NOT REACHED: a\nNOT REACHED: b\n"


def test_the_line_of_a_batch_has_an_interval_of_the_steps_summed() -> None:
    for cost, blocks in zip(costs(RECORDED), RECORDED["times"].values(), strict=True):
        ratio = sum(each["off"] for each in blocks) / sum(each["on"] for each in blocks)
        assert cost.summed.low < ratio < cost.summed.high
        assert f"of all steps summed {ratio:.4f} [{cost.summed.low:.4f}, " in cost.told()


def test_what_was_recorded_keeps_the_bound() -> None:
    assert two_bank.slow(RECORDED) == []


def test_steps_that_are_all_slow_miss_both_speeds() -> None:
    missed = two_bank.slow(slower(0.12))
    assert len(missed) == 2 * len(RECORDED["times"])
    assert [each.split(" 0.")[0] for each in missed[:2]] == [
        "batch 8: speed",
        "batch 8: speed of all steps summed",
    ]
    assert all(each.endswith(" does not reach 0.95") for each in missed)


def test_few_slow_steps_miss_the_summed_speed_alone() -> None:
    """As where picks are counted in one step of many."""
    missed = two_bank.slow(every(10, 4.0))
    assert len(missed) == len(RECORDED["times"])
    assert all("speed of all steps summed" in each for each in missed)


def test_the_counter_has_bounds_of_its_own() -> None:
    assert usage_counter.costly(slower(0.0)) == []
    speeds = usage_counter.costly(slower(0.06))
    assert speeds
    assert all(each.endswith(" does not reach 0.97") for each in speeds)
    assert two_bank.slow(slower(0.03)) == []
    added = usage_counter.costly({**slower(0.1), "layers": 1})
    assert added[-1].startswith("batch 8: microseconds added a layer a step ")
    assert added[-1].endswith(" exceeds 50")


def copies(share: float) -> list[dict[str, Any]]:
    """Copies that take so much of what a plain one does, beside one that is as fast."""
    plain = [1.0, 1.01, 0.99, 1.02, 0.98]
    facts = {"rows": 8, "bytes": 2**20, "plain": plain}
    return [
        {**facts, "way": "to the device", "ours": plain},
        {**facts, "way": "to the host", "ours": [each / share for each in plain]},
    ]


def test_a_copys_share_is_to_be_nine_tenths() -> None:
    assert device.slow(copies(0.92)) == []
    assert device.slow(copies(0.88)) == [
        "8 rows to the host: share of a plain pinned copy 0.880 [0.880, 0.880] does not reach 0.9"
    ]


@pytest.mark.parametrize(("share", "code"), [(0.92, ExitCode.CLEAN), (0.88, ExitCode.MISMATCH)])
def test_a_slow_device_ends_with_the_code_of_a_mismatch(
    share: float,
    code: ExitCode,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    measured = tmp_path / "measured.json"
    measured.write_text(json.dumps({"copies": copies(share), "counts": []}))
    python = tmp_path / "python"
    # Asked for the device with -c, and then to write what was measured.
    python.write_text(f'#!/bin/sh\n[ "$1" = -c ] && echo A GPU || cp {measured} "$2"\n')
    python.chmod(0o755)
    monkeypatch.setenv(device.PYTHON, str(python))
    monkeypatch.setattr(sys, "argv", ["device"])
    assert device.main() is code
    told = capsys.readouterr()
    assert told.out.startswith("A GPU; medians [95 %] of 200 blocks\n")
    assert ("NOT REACHED: 8 rows to the host" in told.err) == (code is not ExitCode.CLEAN)
