"""Checks of staged steps over small banks: ``staging_checks.py RESULT``; needs torch, not vLLM."""

import gc
import random
import threading
import time
import weakref
from contextlib import suppress

from checks import tell
from small_banks import MODES, picks, random_swap, same
from staged_banks import EXPERTS, MANY, Odd, interrupted, staged, step, wanted
from staging_decisions import CHECKS as DECISIONS
from staging_faults import CHECKS as FAULTS

from expert_bank.staging.batched import one_by_one
from expert_bank.staging.copies import Copies
from expert_bank.staging.side_thread import SideThread
from expert_bank.staging.table_now import finds, table_now
from expert_bank.swaps import Swap


def staged_steps_are_the_resident_layers_and_move_each_cold_row_once() -> None:
    """Random sizes, buffers from one layer's rows on, swaps between steps, both modes."""
    draw = random.Random(20261202)  # noqa: S311 - no secret
    for mode in MODES:
        for seed in range(12):
            hot = [draw.randrange(10) for _ in range(4)]
            most = max(EXPERTS - each for each in hot)
            if not most:
                continue
            made, staging = staged(hot, mode, draw.randint(most, 2 * most), seed=seed)
            for number in range(6):
                moved = step(made, range(4), 100 * seed + number)
                assert moved == wanted(made), (hot, staging.off)
                swap = random_swap(draw, made)
                if swap is not None and not (swap.promote is None or swap.demote is None):
                    made.two_bank.barrier.swap([swap])
            assert (staging.done.steps, staging.done.failed, staging.off) == (6, 0, "")
            made.require_poisoned()


def a_step_that_is_not_taken_reads_in_place() -> None:
    """And outside a step, nothing is staged, whatever is asked."""
    made, staging = staged([5, 5], "mirror")
    assert step(made, range(2), 1, prefill=False) == 0
    assert staging.enter(0) is made.two_bank.table.device[0]
    assert staging.decision.refused["decode"] == 1
    staging.decision.wanted = False
    assert step(made, range(2), 2) == 0
    staging.decision.wanted, staging.decision.least = True, MANY + 1
    assert step(made, range(2), 3) == 0
    staging.decision.least = MANY
    with made.two_bank.step(MANY, prefill=True, captured=True):
        assert staging.enter(1) is made.two_bank.table.device[1]
    found = {why: count for why, count in staging.decision.refused.items() if count}
    assert found == {"decode": 1, "switched_off": 1, "below_threshold": 1, "captured": 1}
    assert step(made, range(2), 4) == wanted(made)


def layers_may_come_in_any_order() -> None:
    """And twice, or not at all: rows that were overwritten since are copied again."""
    draw = random.Random(5)  # noqa: S311 - the same
    for rows in (6, 9, 12):
        made, staging = staged([4, 3, 5, 3], "mirror", rows)
        for number in range(20):
            order = [draw.randrange(4) for _ in range(draw.randrange(7))]
            step(made, order, number)
        assert (staging.off, staging.done.failed) == ("", 0)


def rows_come_a_layer_ahead_as_far_as_there_are_slots() -> None:
    """Two layers' rows: all of them; fewer: those of the slots that nobody reads."""
    for rows, late in ((8, 0), (7, 3), (6, 6), (4, 12)):
        made, staging = staged([5, 5, 5, 5], "mirror", rows)
        step(made, range(4), rows)
        assert staging.done.late == late, (rows, staging.done)
        assert staging.done.rows == 16


def copies_that_take_long_are_waited_for() -> None:
    """However long; the next layer's are under way meanwhile."""
    threads: set[int] = set()

    def slow(copies: Copies) -> int:
        time.sleep(0.01)
        threads.add(threading.get_ident())
        return one_by_one(copies)

    made, staging = staged([5, 5, 5], "exclusive", side=SideThread(slow))
    assert step(made, range(3), 1) == wanted(made)
    assert staging.off == ""
    assert threads.isdisjoint({threading.get_ident()})


def banks_go_with_what_has_them() -> None:
    """By the address of a table nothing is kept; another's may be there later."""
    made, staging = staged([5, 5], "mirror")
    table = made.two_bank.table.device[0]
    rows, gone = weakref.ref(made.two_bank.swapper.banks[0]), weakref.ref(staging)
    assert table.data_ptr() in finds
    del made, staging
    gc.collect()
    assert rows() is None
    assert gone() is None
    assert table.data_ptr() not in finds
    assert table_now(table) is table


def empty_hot_rows_have_no_slots_and_are_read_in_place() -> None:
    """Told by a cause of its own, until they are filled."""
    made, staging = staged([5, 5], "mirror")
    swapper = made.two_bank.swapper
    hot = int(made.two_bank.table.is_hot()[1].argmax())
    cold = int((~made.two_bank.table.is_hot()[1]).argmax())
    made.two_bank.barrier.swap([Swap(1, None, hot)])
    assert swapper.free[1]
    assert step(made, range(2), 1) == 0
    assert staging.decision.refused["unfilled"] == 1
    made.two_bank.barrier.swap([Swap(1, cold, None)])
    assert step(made, range(2), 2) == wanted(made)


def a_check_counts_nothing() -> None:
    """Neither steps nor bytes; and stages only what runs in it."""
    made, staging = staged([5, 5], "exclusive")
    assert staging.fits(1)
    with staging.checking(1):
        assert staging.enter(1) is not made.two_bank.table.device[1]
    assert staging.enter(1) is made.two_bank.table.device[1]
    assert (staging.done.steps, staging.done.bytes) == (0, 0)
    assert sum(staging.decision.refused.values()) == 0


def a_layer_is_checked_by_itself() -> None:
    """Though another has more cold experts than slots; no row of others is copied."""
    copied: list[int] = []

    def copy(copies: Copies) -> None:
        copied.append(len(copies))
        one_by_one(copies)

    made, staging = staged([5, 5], "mirror", side=Odd(copy))
    hot = int(made.two_bank.table.is_hot()[1].argmax())
    made.two_bank.barrier.swap([Swap(1, None, hot)])
    assert staging.fits(0)
    assert not staging.fits(1)
    with staging.checking(0):
        for layer in range(2):
            ids = picks(layer, 30)
            with made.two_bank.counter.step(30):
                served = made.served(made.places(ids, layer), layer)
            assert same(served, made.resident(ids, layer))
        assert staging.enter(0) is staging.layers[0].table
        assert staging.enter(1) is made.two_bank.table.device[1]
    assert sum(copied) == 2 * 4 * len(made.two_bank.swapper.banks[0].tensors)


def a_warm_up_marks_every_layer_until_it_ends() -> None:
    """However it ends."""
    _, staging = staged([5, 5], "mirror")
    with suppress(KeyboardInterrupt), staging.warming():
        assert all(each.warm for each in staging.layers.values())
        interrupted()
    assert not any(each.warm for each in staging.layers.values())


CHECKS = (
    staged_steps_are_the_resident_layers_and_move_each_cold_row_once,
    a_step_that_is_not_taken_reads_in_place,
    layers_may_come_in_any_order,
    rows_come_a_layer_ahead_as_far_as_there_are_slots,
    copies_that_take_long_are_waited_for,
    banks_go_with_what_has_them,
    empty_hot_rows_have_no_slots_and_are_read_in_place,
    a_check_counts_nothing,
    a_layer_is_checked_by_itself,
    a_warm_up_marks_every_layer_until_it_ends,
    *FAULTS,
    *DECISIONS,
)


if __name__ == "__main__":
    tell(CHECKS)
