"""Checks of the barrier between two forwards: ``barrier.py RESULT``; needs torch, not vLLM."""

import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from checks import tell
from numpy.typing import NDArray
from small_banks import MODES, Small, copying, picks, raised, small

from expert_bank.barrier import KEPT_FAILURES, Moved
from expert_bank.forced import Forced
from expert_bank.refused import Refused
from expert_bank.swapping import Rows, plain_copy
from expert_bank.swaps import Swap

FOUR = [Swap(0, 4 + each, each) for each in range(4)]


@dataclass(frozen=True)
class Listed:
    """A source of swaps that were chosen beforehand, each behind the number of its forward."""

    swaps: Sequence[tuple[int, Swap]]

    def at(
        self,
        forward: int,
        hot: Sequence[NDArray[np.bool_]],  # noqa: ARG002 - as a source has it
        *,
        rows: Sequence[int] | None = None,  # noqa: ARG002 - the same
    ) -> list[Swap]:
        """Give a forward's, in the list's order."""
        return [swap for number, swap in self.swaps if number == forward]


def made() -> Small:
    """One layer, experts 0..3 hot."""
    return small([4], "mirror", first=[[0, 1, 2, 3]])


def state(banks: Small) -> tuple[list[int], list[torch.Tensor]]:
    """The table, and all bytes of the banks."""
    tensors = banks.two_bank.swapper.banks[0].tensors
    rows = [
        side.clone().view(torch.uint8) for each in tensors[:1] for side in (each.hot, each.cold)
    ]
    return banks.two_bank.table.device[0].flatten().tolist(), rows


def unchanged(before: tuple[list[int], list[torch.Tensor]], banks: Small) -> bool:
    """Whether nothing was moved, nor the device waited for."""
    table, rows = state(banks)
    same = all(one.equal(other) for one, other in zip(before[1], rows, strict=True))
    return same and table == before[0] and not banks.drained


def a_closed_barrier_refuses_and_moves_nothing() -> None:
    """With its reason; until the last reason is gone."""
    banks = made()
    barrier, before = banks.two_bank.barrier, state(banks)
    with barrier.shut("profiling"):
        with barrier.shut("sleep"):
            told = raised(Refused, lambda: barrier.swap(FOUR[:1]))
            assert told == "no row may be swapped during sleep"
        told = raised(Refused, lambda: barrier.swap(FOUR[:1]))
        assert told == "no row may be swapped during profiling"
        assert barrier.told()["closed"] == ["profiling"]
        assert unchanged(before, banks)
    barrier.swap(FOUR[:1])
    assert barrier.totals.swaps == 1


def a_closed_barrier_lets_forwards_pass_without_swaps() -> None:
    """A failure inside opens it again."""
    banks = made()
    barrier = banks.two_bank.barrier
    barrier.source = Forced(every=1, pairs_per_layer=1, seed=1)
    before = state(banks)

    def fails() -> None:
        with barrier.shut("capture"):
            barrier.forward()
            raise KeyError

    raised(KeyError, fails)
    assert unchanged(before, banks)
    assert (barrier.totals.forwards, barrier.totals.swaps) == (1, 0)
    barrier.forward()
    assert barrier.totals.swaps == 1


def an_unsound_list_is_refused_whole() -> None:
    """The good swaps before the bad one are not made either."""
    banks = made()
    before = state(banks)
    for bad in (Swap(0, 0, 1), Swap(0, 8, 7), Swap(1, 8, 0), Swap(0, 9, 3), Swap(0, 4, 3)):
        raised(Refused, partial(banks.two_bank.barrier.swap, [*FOUR[:2], bad]))
    assert unchanged(before, banks)
    assert banks.two_bank.barrier.totals.barriers == 0
    banks.require_whole()


def bytes_cut_a_barrier() -> None:
    """The swap that runs past the budget is the last; the others are counted, and not kept."""
    size = made().two_bank.swapper.banks[0].row_bytes
    for budget, swaps in ((0, 0), (1, 1), (size, 1), (size + 1, 2), (4 * size, 4), (2**63, 4)):
        banks = made()
        barrier = banks.two_bank.barrier
        barrier.byte_budget = budget
        barrier.swap(FOUR)
        totals = barrier.totals
        assert (totals.swaps, totals.cut, totals.bytes) == (swaps, 4 - swaps, swaps * size), budget
        barrier.forward()
        assert barrier.totals.swaps == swaps
        banks.require_whole()


def seconds_cut_a_barrier() -> None:
    """By the clock, which drains and copies run against."""
    for budget, swaps in ((0.0, 0), (0.3, 1), (3600.0, 4)):
        banks = made()
        barrier = banks.two_bank.barrier
        barrier.second_budget = budget
        with copying(banks, slow_copy if swaps == 1 else plain_copy):
            barrier.swap(FOUR)
        assert (barrier.totals.swaps, barrier.totals.cut) == (swaps, 4 - swaps), budget
        assert barrier.totals.seconds >= budget * (swaps == 1)
        banks.require_whole()


def slow_copy(to: Rows, source: Rows) -> None:
    """Copy, and take longer than a budget."""
    plain_copy(to, source)
    time.sleep(0.35)


def the_device_is_drained_before_the_first_byte_moves() -> None:
    """And after the last forward; once a barrier, and not where none is due."""
    banks = made()
    barrier, happened = banks.two_bank.barrier, list[str]()
    barrier.drain = lambda: happened.append("drained")
    barrier.source = Listed([(2, FOUR[0]), (2, FOUR[1])])

    def copy(to: Rows, source: Rows) -> None:
        happened.append("copied")
        plain_copy(to, source)

    with copying(banks, copy):
        for number in (1, 2, 3):
            banks.forward(picks(number, 4))
            happened.append(f"forward {number}")
    assert happened == ["forward 1", "drained", "copied", "copied", "forward 2", "forward 3"]


def an_undrained_forward_would_read_another_row() -> None:
    """A forward that has split its picks and not yet read their rows; the control does not wait."""
    for mode in MODES:
        for waits in (True, False):
            banks = small([4], mode, first=[[0, 1, 2, 3]], poison=True)
            enqueued: list[torch.Tensor] = []
            answers: list[torch.Tensor] = []

            def run(banks: Small = banks, enqueued: list[torch.Tensor] = enqueued) -> None:
                answers.extend(banks.served(places, 0) for places in enqueued)  # noqa: B023 - called within
                enqueued.clear()

            banks.two_bank.barrier.drain = run if waits else lambda: None
            ids = picks(5, 30)
            enqueued.append(banks.places(ids, 0))
            banks.two_bank.barrier.swap(FOUR[:2])
            run()
            assert answers[0].equal(banks.resident(ids)) is waits


def a_listed_swap_comes_before_exactly_its_forward() -> None:
    """Each in its own; forwards between them swap nothing."""
    banks = made()
    barrier = banks.two_bank.barrier
    barrier.source = Listed([(2, FOUR[0]), (5, FOUR[1]), (5, FOUR[2])])
    hot = []
    for number in range(1, 7):
        ids = picks(number, 9)
        assert banks.forward(ids).equal(banks.resident(ids))
        hot.append(banks.two_bank.table.is_hot()[0].nonzero()[0].tolist())
    first, second = [1, 2, 3, 4], [3, 4, 5, 6]
    assert hot == [[0, 1, 2, 3], first, first, first, second, second]
    assert (barrier.totals.barriers, barrier.totals.swaps, len(banks.drained)) == (2, 3, 2)


def swaps_asked_for_now_are_made_now() -> None:
    """What the table contradicts is refused whole; in a forward it is a failure, and no error."""
    banks = made()
    barrier = banks.two_bank.barrier
    for _ in range(3):
        barrier.forward()
    told = raised(Refused, lambda: barrier.swap([FOUR[0], Swap(0, 0, 1)]))
    assert "expert 0 is" in told
    assert barrier.totals.swaps == 0
    barrier.swap(FOUR[:2])
    assert barrier.totals.swaps == 2
    barrier.source = Listed([(4, FOUR[0])])
    barrier.forward()
    assert (barrier.totals.swaps, barrier.totals.failed) == (2, 1)
    assert "is hot already" in barrier.failures[0]


def addresses_stay_where_they_were() -> None:
    """Of every bank and table, through 100 barriers."""
    for mode in MODES:
        banks = small([4, 6], mode, seed=1)
        two_bank = banks.two_bank
        before = [each.addresses() for each in two_bank.swapper.banks]
        tables = [each.data_ptr() for each in two_bank.table.device]
        two_bank.barrier.source = Forced(every=1, pairs_per_layer=2, seed=1)
        for _ in range(50):
            two_bank.barrier.forward()
        assert two_bank.barrier.totals.swaps == 200
        assert before == [each.addresses() for each in two_bank.swapper.banks]
        assert tables == [each.data_ptr() for each in two_bank.table.device]


def a_moved_bank_is_refused_before_anything_moves() -> None:
    """Hot, cold, or a table; and one that moves while rows are swapped is told behind."""
    for which in range(3):
        banks = made()
        rows = banks.two_bank.swapper.banks[0].tensors[2]
        moved = (rows.hot, rows.cold, banks.two_bank.table.device[0])[which]
        moved.data = moved.clone()
        before = state(banks)
        told = raised(RuntimeError, partial(banks.two_bank.barrier.swap, FOUR[:1]))
        assert told == "a bank or a table moved; a captured graph would read the old one"
        assert unchanged(before, banks)
    banks = made()
    rows = banks.two_bank.swapper.banks[0].tensors[2]

    def copy(to: Rows, source: Rows) -> None:
        plain_copy(to, source)
        rows.hot.data = rows.hot.clone()

    with copying(banks, copy):
        raised(RuntimeError, lambda: banks.two_bank.barrier.swap(FOUR[:1]))


def a_moved_bank_ends_the_forward() -> None:
    """It is no failure to be told and served past: a graph would read the old one."""
    banks = made()
    banks.two_bank.barrier.source = Listed([(1, FOUR[0])])
    rows = banks.two_bank.swapper.banks[0].tensors[2]
    rows.hot.data = rows.hot.clone()
    raised(Moved, banks.two_bank.barrier.forward)
    assert banks.two_bank.barrier.totals.failed == 0


class Broken:
    """A source that raises."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def at(self, *_: object, **__: object) -> list[Swap]:
        """Raise."""
        raise self.error


def whatever_a_forward_meets_is_a_failure() -> None:
    """Of the source, of the device, of the table and its watchers; nothing moves, and all is served."""
    for mode in MODES:
        for error in (ValueError("odd"), OSError("odd"), KeyError("odd"), RuntimeError("odd")):
            for place in ("source", "drain", "before", "write", "watcher"):
                banks = small([4], mode, first=[[0, 1, 2, 3]])
                barrier, table = banks.two_bank.barrier, banks.two_bank.table
                barrier.source = Listed([(1, FOUR[0]), (1, FOUR[1])])
                drain, write = barrier.drain, table.write_entry
                before = state(banks)[0]

                def fails(*_: object, error: Exception = error) -> None:
                    raise error

                if place == "source":
                    barrier.source = Broken(error)
                elif place == "drain":
                    barrier.drain = fails
                elif place == "write":
                    table.write_entry = fails  # type: ignore[assignment,method-assign]
                elif place == "before":
                    table.before.append(fails)
                else:
                    table.watchers.append(fails)
                ids = picks(3, 20)
                assert banks.forward(ids).equal(banks.resident(ids)), (mode, error, place)
                assert state(banks)[0] == before
                swaps = place not in ("source", "drain")
                assert (barrier.totals.swaps, barrier.totals.failed) == (0, 1 + swaps)
                first = "layers.0.experts, expert 0: " if swaps else "before forward 1: "
                assert barrier.failures[0] == f"{first}{type(error).__name__}: {error}"
                assert json.loads(json.dumps(barrier.told()))["failures"] == barrier.failures

                barrier.drain, table.write_entry = drain, write  # type: ignore[method-assign]
                table.before.clear()
                table.watchers.clear()
                barrier.source = Listed([(2, FOUR[0]), (2, FOUR[1])])
                assert banks.forward(ids).equal(banks.resident(ids))
                assert barrier.totals.swaps == 2
                banks.require_whole()


def totals_add_up() -> None:
    """Asked for = swapped + failed + cut; bytes are those of verified copies alone."""
    for mode in MODES:
        banks, draw = small([4, 6], mode, seed=2), random.Random(2)  # noqa: S311 - no secret
        barrier = banks.two_bank.barrier
        asked = Asked(Forced(every=2, pairs_per_layer=3, seed=2))
        barrier.source = asked
        size = banks.two_bank.swapper.banks[0].row_bytes
        copied: list[int] = []

        def copy(
            to: Rows, source: Rows, draw: random.Random = draw, copied: list[int] = copied
        ) -> None:
            if draw.random() < 0.3:
                raise RuntimeError("no")
            plain_copy(to, source)
            copied.append(1)

        with copying(banks, copy):
            for step in range(60):
                barrier.byte_budget = draw.choice([2**63, 3 * size])
                banks.forward(picks(step, 4))
                banks.require_whole()
        totals = barrier.totals
        assert totals.swaps + totals.failed + totals.cut == asked.swaps
        assert min(totals.swaps, totals.failed, totals.cut) > 0
        assert totals.bytes == len(copied) * size
        assert (totals.forwards, totals.barriers) == (60, 30)
        assert len(banks.drained) == 30
        told = json.loads(json.dumps(banks.two_bank.told()))
        assert len(told["failures"]) == KEPT_FAILURES
        assert {key: told[key] for key in ("swaps", "failed", "cut")} == {
            "swaps": totals.swaps,
            "failed": totals.failed,
            "cut": totals.cut,
        }


class Asked:
    """Forced swaps, counted.

    Attributes:
        swaps: How many were asked for.
    """

    def __init__(self, source: Forced) -> None:
        self.source = source
        self.swaps = 0

    def at(
        self, forward: int, hot: Sequence[NDArray[np.bool_]], *, rows: Sequence[int] | None = None
    ) -> list[Swap]:
        """Ask for what the source does."""
        found = self.source.at(forward, hot, rows=rows)
        self.swaps += len(found)
        return found


CHECKS = (
    a_closed_barrier_refuses_and_moves_nothing,
    a_closed_barrier_lets_forwards_pass_without_swaps,
    an_unsound_list_is_refused_whole,
    bytes_cut_a_barrier,
    seconds_cut_a_barrier,
    the_device_is_drained_before_the_first_byte_moves,
    an_undrained_forward_would_read_another_row,
    a_listed_swap_comes_before_exactly_its_forward,
    swaps_asked_for_now_are_made_now,
    addresses_stay_where_they_were,
    a_moved_bank_is_refused_before_anything_moves,
    a_moved_bank_ends_the_forward,
    whatever_a_forward_meets_is_a_failure,
    totals_add_up,
)


if __name__ == "__main__":
    tell(CHECKS)
