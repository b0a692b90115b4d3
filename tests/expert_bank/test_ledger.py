"""What swaps were charged, to whom, and what of it was taken back."""

import numpy as np

from expert_bank.ledger import Ledger
from expert_bank.pace import Pace
from expert_bank.swaps import Swap

PACE = Pace(swaps=2, tokens_per_swap=100)
HOT = np.array([[True, False, False], [True, False, False]])
SWAPS = [Swap(0, 1, 0), Swap(1, 1, 0)]
MADE = np.array([[False, True, False], [True, False, False]])  # the first of both


def ledger(rows_per_swap: int = 1) -> Ledger:
    return Ledger(HOT.shape, rows_per_swap, PACE)


def test_credit_begins_full_grows_by_tokens_and_no_further() -> None:
    kept = ledger()
    assert kept.credit.tolist() == kept.served.tolist() == [2, 2]
    kept.ask(SWAPS[:1])
    kept.go_on(50, PACE)
    assert kept.credit.tolist() == kept.served.tolist() == [1.5, 2]
    kept.go_on(0, Pace(tokens_per_swap=0, swaps=5))
    assert kept.credit.tolist() == kept.served.tolist() == [5, 5]


def test_what_was_not_made_is_taken_back_whole() -> None:
    kept = ledger(rows_per_swap=2)
    kept.go_on(1, PACE)
    kept.ask(SWAPS)
    kept.settle(MADE)
    assert kept.credit.tolist() == kept.served.tolist() == [1, 2]
    assert kept.paid() == 2
    assert kept.movable(10).tolist() == [[False, False, True], [True, True, True]]
    # Once.
    kept.settle(HOT)
    assert (kept.paid(), kept.credit.tolist()) == (0, [1, 2])


def test_a_shadow_pays_and_nothing_is_taken_back() -> None:
    kept = ledger()
    kept.charge(SWAPS)
    kept.settle(HOT)
    assert (kept.credit.tolist(), kept.served.tolist()) == ([1, 1], [2, 2])
    assert kept.paid() == 2
    assert not kept.movable(10)[:, :2].any()


def test_the_way_back_is_charged_to_the_served_map_alone() -> None:
    kept = ledger()
    kept.go_back(SWAPS)
    assert (kept.credit.tolist(), kept.served.tolist()) == ([2, 2], [1, 1])
    kept.settle(MADE)
    assert (kept.credit.tolist(), kept.served.tolist()) == ([2, 2], [1, 2])
    assert kept.paid() == 0
    assert kept.movable(10).all()


def test_a_map_that_begins_anew_owes_nothing_and_has_the_served_ones_credit() -> None:
    kept = ledger()
    kept.go_back(SWAPS[:1])
    kept.ask(SWAPS[1:])
    kept.charge(SWAPS[1:])
    kept.begin_anew()
    kept.settle(HOT)
    assert kept.paid() == 0
    assert kept.credit.tolist() == kept.served.tolist() == [1, 1]


def test_it_holds_what_was_really_moved_and_nothing_that_was_only_charged() -> None:
    kept = ledger()
    kept.ask(SWAPS)
    kept.settle(MADE)
    kept.go_on(5, PACE)
    kept.begin_anew()
    kept.charge([Swap(0, 2, 1), Swap(1, 2, 0)])
    kept.go_back([Swap(1, 1, 0)])
    kept.settle(np.array([[False, True, False], [False, True, False]]))
    kept.go_on(5, PACE)
    kept.begin_anew()
    # The first swap is ten tokens old, the way back five; the shadow's never were.
    assert kept.movable(6).tolist() == [[True, True, True], [False, False, True]]
    assert kept.movable(11).tolist() == [[False, False, True], [False, False, True]]
