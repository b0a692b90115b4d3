"""What a watch tells, when, and that nothing of it stops what serves."""

import re
from pathlib import Path

import pytest

from expert_bank import watch as watching
from expert_bank.pace import Pace
from expert_bank.refused import Refused
from expert_bank.stats_file import read_stats
from tests.expert_bank.plans import planned
from tests.expert_bank.watched import ROW, Banks

BEFORE, AFTER = [30, 30, 2, 2], [2, 2, 30, 30]
PACE = "every 1 forwards, at most 2 swaps a layer"
QUICK = {"half_life": 64, "residence": 0, "tokens_per_swap": 0, "window": 128}


def test_at_boot_it_says_what_is_hot_and_whether_that_changes(tmp_path: Path) -> None:
    still, follows, file = Banks(), Banks(experts=8, hot=3), tmp_path / "stats.json"
    still.watched()
    follows.follow()
    follows.watched(file)
    assert still.told == ["2 of 4 experts hot in 2 layers; the map stands still"]
    assert follows.told == [
        f"3 of 8 experts hot in 2 layers; the map follows traffic, {PACE}; stats in {file}"
    ]


def test_the_file_is_there_at_once_and_then_at_the_cadence_once_a_second(tmp_path: Path) -> None:
    file, banks = tmp_path / "stats.json", Banks()
    banks.follow(every=4, **QUICK)
    banks.watched(file)
    assert read_stats(file)["forwards"] == 0
    banks.serve(BEFORE, 8)
    assert read_stats(file)["forwards"] == 0, "two looks in one second"
    banks.now += 1
    banks.serve(BEFORE, 3)
    assert read_stats(file)["forwards"] == 0, "between two looks"
    banks.serve(BEFORE)
    found = read_stats(file)
    # Before forward 12, the picks of 11 are there.
    assert (found["forwards"], found["tokens"]) == (12, 11 * 32)


def test_a_map_that_stands_still_is_told_every_64_forwards(tmp_path: Path) -> None:
    file, banks = tmp_path / "stats.json", Banks()
    banks.watched(file)
    banks.now += 5
    banks.serve(BEFORE, 63)
    assert read_stats(file)["forwards"] == 0
    banks.serve(BEFORE)
    assert read_stats(file)["forwards"] == 64
    assert len(banks.told) == 1


def test_whoever_asks_gets_it_as_it_is_now_and_so_does_the_file(tmp_path: Path) -> None:
    file, banks = tmp_path / "stats.json", Banks()
    watch = banks.watched(file)
    banks.serve(BEFORE, 3)
    assert watch.read() == read_stats(file)
    assert read_stats(file)["layers"][1]["hot_picks"] == 180


def test_regret_is_summed_in_picks(tmp_path: Path) -> None:
    banks = Banks()
    banks.follow(**{**QUICK, "swaps": 1, "half_life": 10**9})
    banks.following.policy.frozen = True
    watch = banks.watched(tmp_path / "stats.json")
    banks.serve(AFTER, 11)
    # 60 of 64 picks of a layer were cold, and 4 would have been under the oracle map, which is known
    # by the first forward's; the last one's are not read.
    assert watch.read()["regret"] == {
        "late": pytest.approx(9 / 10 * 56 / 64),
        "served": 10 * 2 * 60,
        "oracle": 2 * 60 + 9 * 2 * 4,
    }


def test_a_line_every_fifty_looks_tells_of_the_time_since_the_last() -> None:
    banks = Banks()
    banks.follow(**QUICK)
    banks.watched()
    banks.serve(BEFORE, 49)
    assert len(banks.told) == 1
    banks.now += 5
    banks.serve(AFTER)
    banks.now += 10
    banks.serve(AFTER, 50)
    _, first, second = banks.told
    assert first == (
        "forward 50, follows: 6.2% of late picks cold (boot map 6.2%, oracle 6.2%, regret 0.0%);"
        " 0 swaps, 0 failed, 0 B, 1.00% of the time deciding and"
        " swapping"
    )
    assert re.fullmatch(
        r"forward 100, follows: 6\.3% of late picks cold \(boot map 93\.7%, oracle 6\.3%, regret"
        r" 0\.0%\); 4 swaps, 0 failed, 4\.00 MiB, 0\.50% of the time deciding and swapping",
        second,
    )


def test_each_turn_of_the_guard_is_one_line() -> None:
    banks = Banks()
    banks.follow(**QUICK)
    banks.watched()
    banks.serve(BEFORE, 5)
    guard = banks.following.policy.guard
    guard.trusted, guard.fallbacks = False, 1
    banks.serve(BEFORE, 1)
    guard.trusted, guard.returns = True, 1
    banks.serve(BEFORE, 5)
    assert banks.told[1:] == [
        "before forward 6: the moving map did not beat the boot map, which comes back (1 so far)",
        f"before forward 7: the map follows traffic again (1 so far), {PACE}",
    ]


def test_freezing_and_standing_still_are_told_once() -> None:
    banks = Banks()
    banks.follow(**QUICK)
    banks.watched()
    banks.following.policy.frozen = True
    banks.serve(BEFORE, 3)
    banks.following = banks.barrier.source = None
    banks.serve(BEFORE, 64)
    assert banks.told[1:] == [
        "before forward 1: the map that follows traffic is frozen",
        "before forward 64: the map stands still",
    ]


def test_a_write_that_fails_is_told_once_and_stops_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "absent"
    banks = Banks()
    banks.follow(**QUICK)
    banks.watched(folder / "stats.json")
    for _ in range(4):
        banks.now += 1
        banks.serve(BEFORE)
    (warned,) = banks.warned
    assert warned.startswith("how the map does cannot be told: FileNotFoundError: ")
    folder.mkdir()
    banks.now += 1
    banks.serve(BEFORE)
    assert read_stats(folder / "stats.json")["forwards"] == 5
    (folder / "stats.json").unlink()
    folder.rmdir()
    banks.now += 1
    banks.serve(BEFORE)
    assert len(banks.warned) == 2, "it had been well again"
    assert banks.barrier.totals.forwards == 6


def test_a_full_disk_is_not_asked_again_at_every_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def full(path: Path, _stats: object) -> None:
        asked.append(path)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(watching, "write_stats", full)
    banks = Banks()
    banks.follow(**QUICK)
    banks.watched(tmp_path / "stats.json")
    banks.serve(BEFORE, 10)
    assert len(asked) == 1
    banks.now += 1
    banks.serve(BEFORE, 10)
    assert len(asked) == 2
    assert len(banks.warned) == 1


def test_counts_that_are_not_exact_leave_no_old_numbers_behind(tmp_path: Path) -> None:
    file, banks = tmp_path / "stats.json", Banks()
    banks.watched(file)
    banks.serve(BEFORE, 64)
    assert file.exists()

    def by_bank() -> None:
        raise Refused("the counts of picks are not exact: somebody said so")

    banks.counter.by_bank = by_bank
    banks.now += 5
    banks.serve(BEFORE, 64)
    assert not file.exists()
    assert len(banks.warned) == 1


def recoveries(banks: Banks) -> list[str]:
    return [line for line in banks.told if line.startswith("after a switch of traffic")]


def test_once_steps_are_known_what_a_switch_takes_is_told_in_seconds_for_each_pace() -> None:
    banks = Banks()
    banks.follow(**QUICK)
    banks.plan = planned(*[banks.hot] * banks.layers, experts=banks.experts, picks=2)
    banks.watched()
    for _ in range(40):
        banks.now += 0.02
        banks.serve(BEFORE)
    (line,) = recoveries(banks)
    found = re.search(r"(\d+) tokens at 32 a forward.* ([0-9.]+) s at 20 ms a forward", line)
    assert found, line
    assert float(found[2]) == pytest.approx(int(found[1]) / 32 * 0.02, rel=0.01)
    assert "GB/s" not in line, "no row was copied yet"
    banks.following.policy.pace = Pace(every=1, **{**QUICK, "swaps": 1})
    banks.barrier.totals.bytes, banks.barrier.totals.seconds = 3 * 10**9, 1.5
    for _ in range(3):
        banks.now += 0.02
        banks.serve(BEFORE)
    _, other = recoveries(banks)
    assert "s of copies at 2 GB/s" in other


def test_it_goes_by_the_bytes_of_the_barrier_and_comes_again_when_they_change() -> None:
    banks = Banks()
    banks.follow(**QUICK, bytes=ROW)
    banks.plan = planned(*[banks.hot] * banks.layers, experts=banks.experts, picks=2)
    banks.watched()

    def serve() -> None:
        for _ in range(40):
            banks.now += 0.02
            banks.serve(BEFORE)

    def tokens(line: str) -> int:
        found = re.search(r"(\d+) tokens at 32 a forward", line)
        assert found, line
        return int(found[1])

    # No bound though the pace has one, then one swap of four; beyond what a pace may have is none.
    for given in (None, ROW, 2**60, 1.5 * ROW, 0):
        banks.barrier.limits = given, None
        serve()
        serve()
    unbounded, bounded, again, more, never = recoveries(banks)
    assert tokens(unbounded) == tokens(again) < tokens(bounded) == tokens(more)
    assert "never made" in never
    assert not banks.warned


def test_time_without_requests_is_no_part_of_a_step() -> None:
    banks = Banks()
    banks.follow(**QUICK)
    banks.plan = planned(*[banks.hot] * banks.layers, experts=banks.experts, picks=2)
    banks.watched()
    for number in range(40):
        banks.now += 60 if number % 4 == 0 else 0.02
        banks.serve(BEFORE)
    (line,) = recoveries(banks)
    assert "at 20 ms a forward" in line


def test_banks_that_nobody_planned_are_told_no_recovery() -> None:
    banks = Banks()
    banks.follow(**QUICK)
    banks.watched()
    banks.serve(BEFORE, 60)
    assert not recoveries(banks)
    assert not banks.warned
