"""Checks of staged steps in which something fails; run by ``staging_checks``."""

import time
from contextlib import suppress

import numpy as np
from small_banks import picks
from staged_banks import MANY, Odd, interrupted, staged, step, wanted

from expert_bank.staging.batched import one_by_one
from expert_bank.staging.cold_share import EVERY
from expert_bank.staging.copies import Copies
from expert_bank.staging.side_thread import SideThread


def a_copy_that_copies_nothing_is_seen() -> None:
    """Its rows are poison; the layer is read in place, and so is all else from then on."""
    made, staging = staged([5, 5], "mirror", side=Odd(lambda _: None))
    # The poison is there from the first step's end on.
    with staging.checking(0):
        pass
    step(made, range(2), 1)
    assert "is not in its slot" in staging.off
    assert (staging.done.bytes, staging.done.failed) == (0, 1)
    assert step(made, range(2), 2) == 0


def a_row_that_is_not_copied_is_seen_within_as_many_steps_as_there_are_rows() -> None:
    """One of them is compared in each step, another one each time."""

    last: list[int] = []

    def without_last(copies: Copies) -> None:
        one_by_one(copies.some(~np.isin(copies.to, last)))

    made, staging = staged([5], "mirror", side=Odd(without_last))
    tensors = made.two_bank.swapper.banks[0].tensors
    last += [each.stage[3].data_ptr() for each in tensors if each.stage is not None]
    with staging.checking(0):
        pass
    steps = 0
    while not staging.off:
        steps += 1
        assert steps <= 4, "it was never seen"
        with made.two_bank.step(MANY, prefill=True):
            staging.enter(0)
    assert "is not in its slot" in staging.off
    assert steps > 1


def a_copy_that_fails_or_says_less_is_told() -> None:
    """Its text is in what is told; answers are right all the while."""

    def fails(_: Copies) -> int:
        raise RuntimeError("no such device")

    for side, told in (
        (Odd(fails), "RuntimeError: no such device"),
        (SideThread(fails), "RuntimeError: no such device"),
        (Odd(one_by_one, less=1), "bytes were copied of 4 rows"),
    ):
        made, staging = staged([5, 5], "mirror", side=side)
        step(made, range(2), 1)
        assert told in staging.off, staging.off
        assert staging.told()["off"] == staging.off
        assert staging.done.failed == 1
        step(made, range(2), 2)
        step(made, range(2), 3, prefill=False)
        assert staging.done.steps == 1
        found = {why: count for why, count in staging.decision.refused.items() if count}
        assert found == {"decode": 1, "failed": 1}


def what_turns_staging_off_is_told_once() -> None:
    """To people, too, and by a row that nobody read as by one that somebody did."""

    def fails(_: Copies) -> int:
        raise RuntimeError("no such device")

    for layers in ((0,), ()):
        made, staging = staged([5, 5], "mirror", side=SideThread(fails))
        lines: list[str] = []
        staging.warn = lines.append
        for number in range(2):
            step(made, layers, number)
        (line,) = lines
        assert "nothing is staged from here on" in line, line
        assert line.endswith("RuntimeError: no such device"), line
        assert staging.off


def a_check_that_fails_is_counted_and_nothing_is_staged_behind_it() -> None:
    """Whatever ran in it."""
    made, staging = staged([5, 5], "mirror", side=Odd(one_by_one, less=1))
    with staging.checking(0):
        assert staging.enter(0) is made.two_bank.table.device[0]
    assert staging.done.failed == 1
    assert step(made, range(2), 1) == 0


def a_failure_leaves_no_copy_under_way() -> None:
    """Those of its layer that did not fail are waited for like all others."""
    begun, ended = [], []

    def late(copies: Copies) -> int:
        begun.append(copies)
        if len(begun) == 1:
            raise RuntimeError("no such row")
        time.sleep(0.01)
        ended.append(copies)
        return one_by_one(copies)

    made, staging = staged([5, 5], "mirror", side=SideThread(late))
    step(made, range(2), 1)
    assert "no such row" in staging.off
    assert len(begun) > 2
    assert len(ended) == len(begun) - 1


def a_layer_that_runs_again_behind_a_failure_reads_in_place() -> None:
    """And not the slots that it had: others' rows may be there."""
    made, staging = staged([5, 5], "mirror")
    stage = staging.layers[0]
    with made.two_bank.step(MANY, prefill=True):
        assert staging.enter(0) is stage.table
        assert stage.read
        staging.layers[1].rows = staging.layers[1].rows[:0]
        assert staging.enter(1) is made.two_bank.table.device[1]
        assert staging.off
        assert staging.enter(0) is made.two_bank.table.device[0]
        assert not stage.read


def a_forward_that_ends_early_leaves_nothing_under_way() -> None:
    """The next one is right, and counts its own."""
    made, staging = staged([5, 5, 5], "mirror")
    for number in range(3):
        with suppress(KeyboardInterrupt), made.two_bank.step(MANY, prefill=True):
            staging.enter(0)
            interrupted()
        assert staging.enter(1) is made.two_bank.table.device[1]
        assert step(made, range(3), number) == wanted(made)
    assert staging.off == ""


def a_difference_that_a_device_noted_ends_staging_with_the_next_reading() -> None:
    """The step that finds it is not staged, and has a cause of its own."""
    made, staging = staged([5, 5], "mirror")
    assert step(made, range(2), 1) == wanted(made)
    staging.layers[1].wrong += 2
    assert step(made, range(2), 2) == wanted(made)
    with made.two_bank.counter.step(EVERY):
        for layer in range(2):
            made.places(picks(layer, EVERY), layer)
    assert step(made, range(2), 3) == 0
    assert staging.off == "layers.1.experts: 2 staged rows were not what they are copies of"
    assert staging.decision.refused["failed"] == 1


CHECKS = (
    a_copy_that_copies_nothing_is_seen,
    a_row_that_is_not_copied_is_seen_within_as_many_steps_as_there_are_rows,
    a_copy_that_fails_or_says_less_is_told,
    what_turns_staging_off_is_told_once,
    a_check_that_fails_is_counted_and_nothing_is_staged_behind_it,
    a_failure_leaves_no_copy_under_way,
    a_layer_that_runs_again_behind_a_failure_reads_in_place,
    a_forward_that_ends_early_leaves_nothing_under_way,
    a_difference_that_a_device_noted_ends_staging_with_the_next_reading,
)
