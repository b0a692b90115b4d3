"""Checks of what one barrier may copy and take: ``budgets.py RESULT``; needs torch alone."""

import json
import time
from dataclasses import asdict, replace
from functools import partial

from checks import tell
from followed_banks import PACE, made, row_bytes, serve, totals
from small_banks import raised, small

from expert_bank.budgets import limit
from expert_bank.refused import Refused
from expert_bank.steering import follow


def the_pace_holds() -> None:
    """Barriers are before every n-th forward, and a budget takes one swap of four."""
    banks = made()
    follow(banks.two_bank, PACE.changed({"every": 5, "bytes": row_bytes(banks)}))
    serve(banks, [5, 6, 7], times=4)
    assert totals(banks) == (0, 0)
    serve(banks, [5, 6, 7], times=1)
    assert totals(banks) == (1, 0)
    assert banks.two_bank.following is not None
    assert banks.two_bank.following.policy.held_back == 3
    serve(banks, [5, 6, 7], times=5)
    assert totals(banks) == (2, 0)
    assert banks.two_bank.following.policy.held_back == 3, "what waits now, and no sum"
    limit(banks.two_bank, None, None)
    serve(banks, [5, 6, 7], times=5)
    assert banks.two_bank.following.policy.held_back == 0


def budgets_that_take_no_swap_are_refused_where_the_map_follows() -> None:
    """Whether they or the following come first; and nothing is changed."""
    for bytes_, seconds, told in ((0, None, "0 bytes"), (None, 0, "0 seconds")):
        banks = made()
        limit(banks.two_bank, bytes_, seconds)
        assert told in raised(Refused, partial(follow, banks.two_bank, PACE))
        assert banks.two_bank.following is banks.two_bank.barrier.source is None
        follow(banks.two_bank, PACE.changed({"bytes": row_bytes(banks), "seconds": 0.5}))
        barrier = banks.two_bank.barrier
        for each in ((0, 1), (row_bytes(banks) - 1, 1), (None, 0), (None, 0.0)):
            said = raised(Refused, partial(limit, banks.two_bank, *each))
            assert said.endswith(" or end following: no moe_follow, or expert_bank_follow null")
        assert (barrier.byte_budget, barrier.second_budget) == (row_bytes(banks), 0.5)
        limit(banks.two_bank, row_bytes(banks), 0.25)
        assert (barrier.byte_budget, barrier.second_budget) == (row_bytes(banks), 0.25)
        follow(banks.two_bank, None)
        limit(banks.two_bank, 0, 0)


def the_layer_with_the_largest_rows_must_fit() -> None:
    """Of those that have something to swap."""
    for hot, needy in (([4, 4], 1), ([4, 8], 0)):
        banks = small(hot, "mirror", experts=8)
        first, second = banks.two_bank.swapper.banks
        banks.two_bank.swapper.banks = (replace(first, tensors=first.tensors[:1]), second)
        needed = banks.two_bank.swapper.banks[needy].row_bytes
        assert first.row_bytes > banks.two_bank.swapper.banks[0].row_bytes
        told = raised(Refused, partial(follow, banks.two_bank, PACE.changed({"bytes": needed - 1})))
        assert (
            f"no swap of layers.{needy}.experts: with moe_cold_rows mirror one copies a row, {needed} bytes"
            in told
        )
        follow(banks.two_bank, PACE.changed({"bytes": needed}))
    all_hot = small([8, 8], "mirror", experts=8)
    limit(all_hot.two_bank, 0, 0)
    follow(all_hot.two_bank, PACE)


def a_device_that_is_waited_for_past_the_seconds_starves_nothing() -> None:
    """One swap is made, and the others are cut."""
    banks = made()
    barrier = banks.two_bank.barrier
    barrier.drain = lambda: time.sleep(0.02)
    follow(banks.two_bank, PACE.changed({"seconds": 0.001}))
    serve(banks, [5, 6, 7], times=2)
    assert totals(banks) == (1, 0)
    assert barrier.totals.cut == 3
    assert banks.two_bank.told()["follows"]["seconds"] < 0.02


def the_barriers_own_budgets_are_left_alone_where_a_pace_names_none() -> None:
    """And those of a pace end with it."""
    banks = made()
    barrier, row = banks.two_bank.barrier, row_bytes(banks)
    barrier.limit(3 * row, 0.5)
    follow(banks.two_bank, "every=2")
    follow(banks.two_bank, {"every": 1})
    assert (barrier.byte_budget, barrier.second_budget) == (3 * row, 0.5)
    follow(banks.two_bank, {"bytes": 2 * row, "seconds": 0.25})
    assert (barrier.byte_budget, barrier.second_budget) == (2 * row, 0.25)
    follow(banks.two_bank, None)
    assert (barrier.byte_budget, barrier.second_budget) == (2**63, float("inf"))


def a_setting_that_is_changed_alone_leaves_the_other_budget_as_it_is() -> None:
    """Whoever it is from; and it is applied where the pace had the same before."""
    banks = made()
    barrier, row = banks.two_bank.barrier, row_bytes(banks)
    follow(banks.two_bank, PACE.changed({"bytes": row, "seconds": 0.5}))
    limit(banks.two_bank, 2 * row, 0.25)
    follow(banks.two_bank, {"every": 4})
    assert (barrier.byte_budget, barrier.second_budget) == (2 * row, 0.25)
    follow(banks.two_bank, {"seconds": 0.1})
    assert (barrier.byte_budget, barrier.second_budget) == (2 * row, 0.1)
    follow(banks.two_bank, {"bytes": row})
    assert (barrier.byte_budget, barrier.second_budget) == (row, 0.1)
    follow(banks.two_bank, {"seconds": None})
    assert (barrier.byte_budget, barrier.second_budget) == (row, float("inf"))
    limit(banks.two_bank, 2 * row, 0.25)
    follow(banks.two_bank, {"bytes": None})
    assert (barrier.byte_budget, barrier.second_budget) == (2**63, 0.25)


def settings_by_name_that_begin_it_leave_the_budgets_that_they_do_not_name() -> None:
    """As those that change it do; and one that takes no swap is refused and changes neither."""
    banks = made()
    barrier, row = banks.two_bank.barrier, row_bytes(banks)
    limit(banks.two_bank, 2 * row, 0.5)
    told = raised(Refused, partial(follow, banks.two_bank, {"seconds": 0.1, "bytes": row - 1}))
    assert f"{row - 1} bytes" in told
    assert (barrier.byte_budget, barrier.second_budget) == (2 * row, 0.5)
    follow(banks.two_bank, {"seconds": 0.1})
    assert (barrier.byte_budget, barrier.second_budget) == (2 * row, 0.1)


def a_pace_ends_its_own_budgets_and_nobody_elses() -> None:
    """Where it is another's turn, or nobody's."""
    for next_ in (None, "every=4"):
        banks = made()
        barrier, row = banks.two_bank.barrier, row_bytes(banks)
        for given, left in (
            ((None, 0.25), (2**63, 0.25)),
            ((3 * row, None), (3 * row, float("inf"))),
            ((3 * row, 0.5), (3 * row, float("inf"))),
            ((row, 0.25), (2**63, 0.25)),
        ):
            follow(banks.two_bank, PACE.changed({"bytes": row, "seconds": 0.5}))
            limit(banks.two_bank, *given)
            follow(banks.two_bank, next_)
            assert (barrier.byte_budget, barrier.second_budget) == left, (next_, given)


def a_whole_pace_has_the_budgets_that_it_names() -> None:
    """Also where the last one had named the same, and somebody gave others since."""
    for whole in ("every=2,bytes={row}", PACE):
        banks = made()
        barrier, row = banks.two_bank.barrier, row_bytes(banks)
        pace = whole.format(row=row) if isinstance(whole, str) else whole.changed({"bytes": row})
        follow(banks.two_bank, pace)
        limit(banks.two_bank, 4 * row, 0.25)
        follow(banks.two_bank, pace)
        assert (barrier.byte_budget, barrier.second_budget) == (row, 0.25)


def the_pace_and_the_budgets_are_told() -> None:
    """As they are: what whoever asks gave for a barrier is no setting of the pace."""
    banks = made()

    def budgets() -> object:
        return banks.two_bank.told()["budgets"]

    row = row_bytes(banks)
    assert budgets() == {"bytes": None, "seconds": None}
    limit(banks.two_bank, 0, 0.0)
    assert budgets() == {"bytes": 0, "seconds": 0.0}
    limit(banks.two_bank, None, None)
    pace = PACE.changed({"bytes": row, "seconds": 0.5})
    follow(banks.two_bank, pace)
    limit(banks.two_bank, 2 * row, None)
    told = json.loads(json.dumps(banks.two_bank.told(), allow_nan=False))
    assert told["budgets"] == {"bytes": 2 * row, "seconds": None}
    assert told["follows"]["pace"] == asdict(pace)
    follow(banks.two_bank, {"swaps": 7})
    assert banks.two_bank.told()["follows"]["pace"] == {**asdict(pace), "swaps": 7}


CHECKS = (
    the_pace_holds,
    budgets_that_take_no_swap_are_refused_where_the_map_follows,
    the_layer_with_the_largest_rows_must_fit,
    a_device_that_is_waited_for_past_the_seconds_starves_nothing,
    the_barriers_own_budgets_are_left_alone_where_a_pace_names_none,
    a_setting_that_is_changed_alone_leaves_the_other_budget_as_it_is,
    settings_by_name_that_begin_it_leave_the_budgets_that_they_do_not_name,
    a_pace_ends_its_own_budgets_and_nobody_elses,
    a_whole_pace_has_the_budgets_that_it_names,
    the_pace_and_the_budgets_are_told,
)


if __name__ == "__main__":
    tell(CHECKS)
