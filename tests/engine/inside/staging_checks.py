"""Checks of staged steps over small banks: ``staging_checks.py RESULT``; needs torch, not vLLM."""

import gc
import random
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import torch
from checks import tell
from small_banks import MODES, Small, picks, raised, random_swap, same, small

from expert_bank.plan import Mode
from expert_bank.refused import Refused
from expert_bank.staging.batched import one_by_one
from expert_bank.staging.cold_share import EVERY, HALF_LIFE
from expert_bank.staging.copies import Copies
from expert_bank.staging.making import stage
from expert_bank.staging.room import stage_room
from expert_bank.staging.side_thread import Side, SideThread
from expert_bank.staging.staging import Staging
from expert_bank.staging.steering import BYTES, steer
from expert_bank.staging.table_now import finds, table_now
from expert_bank.swaps import Swap

EXPERTS, MANY = 9, 10_000


@dataclass
class Done:
    """Copies that are there already, whatever they say."""

    bytes: int

    def wait(self) -> int:
        return self.bytes


class Odd:
    """A side that copies as it likes; what it says is what was asked for unless told."""

    def __init__(self, copy: Callable[[Copies], object], *, less: int = 0) -> None:
        self.copy, self.less = copy, less

    def begin(self, copies: Copies) -> Done:
        self.copy(copies)
        return Done(copies.bytes - self.less)


def staged(
    hot: Sequence[int],
    mode: Mode,
    rows: int | None = None,
    *,
    seed: int = 0,
    side: Side | None = None,
) -> tuple[Small, Staging]:
    """Banks with a buffer of so many rows, two layers' unless told, poisoned behind each step."""
    cold = [EXPERTS - each for each in hot]
    room = stage_room("2", cold=cold, row_bytes=[1] * len(cold))
    held = room.rows if rows is None else rows
    made = small(hot, mode, seed=seed, experts=EXPERTS, poison=True, stage=held)
    sizes = [bank.row_bytes for bank in made.two_bank.swapper.banks]
    room = type(room)(held, sizes[0], tuple(cold))
    stage(made.two_bank, room, poison=True, side=side)
    return made, staging_of(made)


def step(made: Small, order: Sequence[int], seed: int, *, prefill: bool = True) -> int:
    """Run layers of a step over many tokens; how many bytes were staged in it."""
    staging = staging_of(made)
    before = staging.done.bytes
    made.two_bank.barrier.forward()
    with made.two_bank.step(MANY, prefill=prefill), made.two_bank.counter.step(30):
        for layer in order:
            ids = picks(seed + layer, 30)
            served = made.served(made.places(ids, layer), layer)
            assert same(served, made.resident(ids, layer)), (seed, layer)
    return staging.done.bytes - before


def wanted(made: Small) -> int:
    """Bytes of each layer's cold experts, once."""
    hot = made.two_bank.table.is_hot()
    banks = made.two_bank.swapper.banks
    return sum(int((~is_hot).sum()) * b.row_bytes for is_hot, b in zip(hot, banks, strict=True))


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


def the_threshold_follows_the_share_that_was_counted() -> None:
    """Uniform traffic's at first; then what the counters have, over and over."""
    made, staging = staged([6, 6], "mirror")
    counter, decision = made.two_bank.counter, staging.decision
    # Three of nine cold, three picks a token and layer, two layers of three rows.
    assert decision.threshold() == 4
    hot = int(made.two_bank.table.is_hot()[0].argmax())
    cold = [int((~state).argmax()) for state in made.two_bank.table.is_hot()]
    for share, least in ((0, None), (1, 2)):
        with counter.step(EVERY * 40):
            for layer in range(2):
                expert = cold[layer] if share else hot_of(made, layer)
                made.places(torch.full((EVERY * 40, 3), expert, dtype=torch.int32), layer)
        assert decision.told()["least_tokens"] == least
    assert abs(decision.told()["cold_share"] - 1) < 0.05
    assert hot == hot_of(made, 0)


def the_share_is_of_layers_with_cold_rows_and_forgets() -> None:
    """Not of those whose picks are all hot; what is older by 8,192 tokens counts half."""
    made, staging = staged([6, 9], "mirror")
    counter, decision = made.two_bank.counter, staging.decision
    null = decision.told()["cold_share"]
    cold = int((~made.two_bank.table.is_hot()[0]).argmax())
    for tokens, expert, share in (
        (EVERY - 1, cold, null),
        (HALF_LIFE - EVERY + 1, cold, 1),
        (HALF_LIFE, hot_of(made, 0), 1 / 3),
    ):
        with counter.step(tokens):
            for layer, each in enumerate((expert, 0)):
                made.places(torch.full((tokens, 3), each, dtype=torch.int32), layer)
        assert abs(decision.told()["cold_share"] - share) < 1e-9, (tokens, decision.told())


def counts_that_are_not_exact_end_no_forward() -> None:
    """The share stays what it was; whoever reads the counts is told."""
    made, staging = staged([5, 5], "mirror")
    counter, share = made.two_bank.counter, staging.decision.told()["cold_share"]
    counter.serves = True
    with counter.step(EVERY):
        """No layer ran on its tokens."""
    with made.two_bank.step(MANY, prefill=True):
        assert staging.enter(0) is not made.two_bank.table.device[0]
    assert counter.inexact
    assert steer(made.two_bank, wanted=True, least=BYTES)["cold_share"] == share
    assert "not exact" in raised(Refused, counter.snapshot)


def what_is_steered_is_refused_where_it_is_no_setting() -> None:
    """And changes nothing then."""
    made, staging = staged([5, 5], "mirror")
    wrong: list[tuple[object, object]] = [
        (1, None),
        ("yes", None),
        (None, 0),
        (None, True),
        (None, "2"),
        (None, 2**25),
        ([], 1),
    ]
    for asked in wrong:
        assert "must be" in refusal(made, *asked)
    assert (staging.decision.wanted, staging.decision.least) == (True, None)
    assert steer(made.two_bank, wanted=False, least=7)["least_tokens"] == 7
    told = steer(made.two_bank, wanted=True, least=BYTES)
    assert (told["wanted"], told["forced"]) == (True, False)
    plain = small([5], "mirror")
    for why in ("moe_prefill_stage is not set", "too small"):
        plain.two_bank.unstaged = "" if "set" in why else why
        assert why in refusal(plain)


def refusal(made: Small, wanted: object = None, least: object = None) -> str:
    """Steer, and give the text by which that was refused."""
    found = ""
    try:
        steer(made.two_bank, wanted, least)
    except Refused as error:
        found = error.message
    return found


def interrupted() -> None:
    """End early."""
    raise KeyboardInterrupt


def staging_of(made: Small) -> Staging:
    """What stages."""
    found = made.two_bank.staging
    assert found is not None
    return found


def hot_of(made: Small, layer: int) -> int:
    """The first hot expert of a layer."""
    return int(made.two_bank.table.is_hot()[layer].argmax())


if __name__ == "__main__":
    tell(
        [
            staged_steps_are_the_resident_layers_and_move_each_cold_row_once,
            a_step_that_is_not_taken_reads_in_place,
            layers_may_come_in_any_order,
            rows_come_a_layer_ahead_as_far_as_there_are_slots,
            copies_that_take_long_are_waited_for,
            a_copy_that_copies_nothing_is_seen,
            a_row_that_is_not_copied_is_seen_within_as_many_steps_as_there_are_rows,
            a_copy_that_fails_or_says_less_is_told,
            what_turns_staging_off_is_told_once,
            a_check_that_fails_is_counted_and_nothing_is_staged_behind_it,
            a_failure_leaves_no_copy_under_way,
            a_layer_that_runs_again_behind_a_failure_reads_in_place,
            banks_go_with_what_has_them,
            a_forward_that_ends_early_leaves_nothing_under_way,
            empty_hot_rows_have_no_slots_and_are_read_in_place,
            a_check_counts_nothing,
            a_layer_is_checked_by_itself,
            a_warm_up_marks_every_layer_until_it_ends,
            a_difference_that_a_device_noted_ends_staging_with_the_next_reading,
            the_threshold_follows_the_share_that_was_counted,
            the_share_is_of_layers_with_cold_rows_and_forgets,
            counts_that_are_not_exact_end_no_forward,
            what_is_steered_is_refused_where_it_is_no_setting,
        ]
    )
