"""Checks of what may be asked of a map while it serves: ``steering.py RESULT``; needs torch alone."""

from collections.abc import Callable
from functools import partial
from typing import Any

from checks import tell
from followed_banks import PACE, made, row_bytes, serve, totals
from small_banks import MODES, Small, raised

from expert_bank.forced import Forced
from expert_bank.pace import Pace
from expert_bank.refused import Refused
from expert_bank.stats import snapshot
from expert_bank.steering import changing, follow, force, freeze, hot_experts, set_map
from expert_bank.swapping import Rows


def the_map_follows_what_is_picked() -> None:
    """In both modes, one picked expert after the other, and each forward right."""
    for mode in MODES:
        banks = made(mode)
        follow(banks.two_bank, PACE)
        serve(banks, [5, 6, 7])
        assert all({5, 6, 7} <= set(hot) for hot in hot_experts(banks.two_bank))
        assert totals(banks) == (6, 0)
        banks.require_whole()
        serve(banks, [5, 6, 7])
        assert totals(banks) == (6, 0)
        told = banks.two_bank.told()["follows"]
        assert told["trusted"]
        assert told["seconds"] > 0


def without_following_nothing_moves() -> None:
    """The control of the check above."""
    banks = made()
    serve(banks, [5, 6, 7])
    assert totals(banks) == (0, 0)
    assert banks.two_bank.told()["follows"] is None


def no_total_goes_down_when_following_ends_and_begins_anew() -> None:
    """Not even for a while."""
    banks = made()
    seen = []

    def told() -> dict[str, Any]:
        stats = snapshot(banks.two_bank, "m")
        numbers = [stats["decisions"], stats["deciding_seconds"], stats["following_drain_seconds"]]
        numbers += [stats["regret"]["served"], stats["regret"]["oracle"]]
        seen.append([*numbers, *(stats["guard"][each] for each in ("fallbacks", "returns"))])
        return stats

    follow(banks.two_bank, PACE.changed({"bytes": row_bytes(banks)}))
    serve(banks, [5, 6, 7], times=4)
    assert banks.two_bank.following is not None
    banks.two_bank.following.policy.guard.fallbacks = 2
    banks.two_bank.following.policy.guard.returns = 1
    assert told()["swapping"]["waiting"] == 3
    assert all(seen[0]), seen
    follow(banks.two_bank, None)
    assert told()["swapping"]["waiting"] == 0
    assert seen[1] == seen[0]
    follow(banks.two_bank, PACE)
    told()
    assert seen[2] == seen[0]
    set_map(banks.two_bank, [[0, 1, 2, 3]] * 2)
    serve(banks, [5, 6, 7], times=4)
    told()
    assert all(late >= early for early, late in zip(seen[2], seen[3], strict=True)), seen
    assert all(late > early for early, late in zip(seen[2][:4], seen[3][:4], strict=True)), seen


def a_new_pace_keeps_what_was_seen() -> None:
    """Scores go on; a text and single settings are taken alike."""
    banks = made()
    follow(banks.two_bank, PACE.changed({"every": 1000}))
    serve(banks, [5, 6, 7], times=4)
    following = banks.two_bank.following
    follow(banks.two_bank, {"every": 1})
    assert banks.two_bank.following is following
    assert following is not None
    assert following.policy.pace == PACE.changed({"every": 1})
    follow(banks.two_bank, "every=8,swaps=1")
    assert following.policy.pace == Pace(every=8, swaps=1)


def nothing_ends_it() -> None:
    """None and empty text."""
    for nothing in (None, ""):
        banks = made()
        follow(banks.two_bank, PACE)
        follow(banks.two_bank, nothing)
        serve(banks, [5, 6, 7])
        assert totals(banks) == (0, 0)
        assert raised(Refused, partial(freeze, banks.two_bank, frozen=True))


def frozen_it_stays_and_thawed_it_goes_on() -> None:
    """What was picked meanwhile is known."""
    banks = made()
    follow(banks.two_bank, PACE)
    freeze(banks.two_bank, frozen=True)
    serve(banks, [5, 6, 7])
    assert totals(banks) == (0, 0)
    freeze(banks.two_bank, frozen=False)
    serve(banks, [5, 6, 7], times=2)
    assert totals(banks) == (4, 0)


def settings_that_are_none_are_refused_and_change_nothing() -> None:
    """Whatever comes by RPC."""
    banks = made()
    follow(banks.two_bank, PACE)
    wrong: list[object] = [7, True, ["every"], {"every": 0}, {"often": 1}, "swaps=x"]
    for each in [*wrong, {"bytes": row_bytes(banks) - 1}]:
        assert raised(Refused, partial(follow, banks.two_bank, each)), each
    assert banks.two_bank.following is not None
    assert banks.two_bank.following.policy.pace == PACE
    assert banks.two_bank.barrier.source is banks.two_bank.following


def a_map_is_set_whole_past_every_budget() -> None:
    """In both modes; the one that is there already moves nothing."""
    for mode in MODES:
        banks = made(mode)
        banks.two_bank.barrier.limit(0, 0.0)
        wanted = [[0, 5, 6, 7], [4, 5, 6, 7]]
        set_map(banks.two_bank, wanted)
        assert hot_experts(banks.two_bank) == wanted
        assert totals(banks) == (7, 0)
        set_map(banks.two_bank, wanted)
        assert totals(banks) == (7, 0)
        banks.require_whole()


def a_mirror_takes_a_map_with_free_rows_and_an_exclusive_bank_does_not() -> None:
    """For there a cold expert would have no row."""
    banks = made()
    set_map(banks.two_bank, [[], [7]])
    assert hot_experts(banks.two_bank) == [[], [7]]
    banks.require_whole()
    told = raised(Refused, partial(set_map, made("exclusive").two_bank, [[0, 1, 2], [0, 1, 2, 3]]))
    assert told == "layer 0 has 4 hot rows, and 3 experts for them"


def maps_that_are_none_are_refused_and_move_nothing() -> None:
    """Whatever comes by RPC."""
    banks = made()
    whole = [0, 1, 2, 3]
    wrong: list[object] = [None, {}, [whole], [whole, None], [whole, [0, 1, 2, 8]]]
    more: list[object] = [[whole, [0, 0, 1, 2]], [whole, [0, 1, 2, True]], [whole, [*range(5)]]]
    for each in [*wrong, *more, [whole, [-1, 0, 1, 2]]]:
        assert raised(Refused, partial(set_map, banks.two_bank, each)), each
    assert totals(banks) == (0, 0)
    with banks.two_bank.barrier.shut("sleep"):
        told = raised(Refused, partial(set_map, banks.two_bank, [[4, 5, 6, 7], whole]))
        assert told == "no row may be swapped during sleep"
    assert hot_experts(banks.two_bank) == [whole, whole]


def a_set_map_is_followed_from() -> None:
    """The guard still holds the moving map against that of the boot."""
    banks = made()
    follow(banks.two_bank, PACE)
    set_map(banks.two_bank, [[4, 5, 6, 7], [4, 5, 6, 7]])
    serve(banks, [5, 6, 7])
    assert totals(banks) == (8, 0)
    assert hot_experts(banks.two_bank) == [[4, 5, 6, 7]] * 2
    assert [state.nonzero()[0].tolist() for state in banks.two_bank.boot] == [[0, 1, 2, 3]] * 2


def counts_that_are_not_exact_end_it_once() -> None:
    """Forwards go on."""
    banks = made()
    follow(banks.two_bank, PACE)
    banks.two_bank.counter.inexact = "somebody said so"
    serve(banks, [5, 6, 7])
    assert totals(banks) == (0, 1)
    assert "somebody said so" in banks.two_bank.barrier.failures[-1]
    following = banks.two_bank.following
    assert following is not None
    assert "somebody said so" in following.told()["ended"]


def swaps_that_fail_are_tried_again() -> None:
    """A copy that raises leaves its expert cold, and the next barrier asks anew."""
    banks = made()
    follow(banks.two_bank, PACE)
    copy, calls = banks.two_bank.swapper.copy, []

    def failing(to: Rows, source: Rows) -> None:
        calls.append(to)
        if len(calls) == 1:
            raise OSError("a planted fault")
        copy(to, source)

    banks.two_bank.swapper.copy = failing
    serve(banks, [5, 6, 7], times=12)
    swaps, failed = totals(banks)
    assert failed == 1
    assert swaps >= 6
    assert all({5, 6, 7} <= set(hot) for hot in hot_experts(banks.two_bank))
    banks.require_whole()


def forced_swaps_come_between() -> None:
    """And what follows goes on from where they left the map."""
    banks = made()
    follow(banks.two_bank, PACE)
    banks.two_bank.barrier.source = Forced(1, 2, 7)
    serve(banks, [5, 6, 7], times=3)
    banks.two_bank.barrier.source = banks.two_bank.following
    serve(banks, [5, 6, 7])
    assert all({5, 6, 7} <= set(hot) for hot in hot_experts(banks.two_bank))
    banks.require_whole()


def a_map_that_is_set_while_the_moving_one_is_not_trusted_stays() -> None:
    """It is trusted as the first one was."""
    banks = made()
    follow(banks.two_bank, PACE)
    following = banks.two_bank.following
    assert following is not None
    following.policy.guard.trusted = False
    set_map(banks.two_bank, [[4, 5, 6, 7]] * 2)
    serve(banks, [5, 6, 7])
    assert hot_experts(banks.two_bank) == [[4, 5, 6, 7]] * 2


def a_map_that_is_set_as_it_is_served_is_trusted_anew() -> None:
    """Nothing is moved for it, and what was picked before is taken in and not charged to it."""
    banks = made()
    follow(banks.two_bank, PACE.changed({"every": 1000, "window": 1}))
    following = banks.two_bank.following
    assert following is not None
    serve(banks, [5, 6, 7], times=9)
    following.policy.guard.trusted = False
    following.policy.shadow[:] = ~following.policy.boot
    set_map(banks.two_bank, hot_experts(banks.two_bank))
    assert following.policy.guard.trusted
    assert (following.policy.shadow == banks.two_bank.table.is_hot()).all()
    assert following.policy.scores[:, 5].round().tolist() == [36, 36]
    assert totals(banks) == (0, 0)
    assert banks.two_bank.barrier.totals.barriers == 0
    with banks.two_bank.barrier.shut("warm-up"):
        told = raised(Refused, lambda: set_map(banks.two_bank, hot_experts(banks.two_bank)))
    assert "warm-up" in told


def what_was_picked_before_a_map_is_set_is_not_charged_to_it() -> None:
    """Nor what was picked while rows were swapped at random."""
    banks = made()
    follow(banks.two_bank, PACE.changed({"every": 1000, "window": 1}))
    following = banks.two_bank.following
    assert following is not None
    serve(banks, [0, 1, 2], times=9)
    set_map(banks.two_bank, [[4, 5, 6, 7]] * 2)
    assert following.policy.guard.ahead == 0
    assert following.policy.scores[:, 0].round().tolist() == [36, 36]
    force(banks.two_bank, Forced(1, 2, 7))
    serve(banks, [0, 1, 2], times=9)
    force(banks.two_bank, None)
    assert banks.two_bank.barrier.source is following
    follow(banks.two_bank, {"every": 1})
    serve(banks, [5, 6, 7], times=1)
    assert following.policy.scores[:, 0].round().tolist() == [36, 36]


def what_is_picked_while_rows_are_swapped_at_random_is_left_out() -> None:
    """Whatever comes after: another map, swaps of somebody's, another pace."""
    afters: list[Callable[[Small], object]] = [
        lambda banks: set_map(banks.two_bank, [[0, 1, 2, 3]] * 2),
        lambda banks: changing(banks.two_bank, []).__enter__(),
        lambda banks: follow(banks.two_bank, {"swaps": 1}),
    ]
    for after in afters:
        banks = made()
        follow(banks.two_bank, PACE.changed({"every": 1000, "window": 1}))
        force(banks.two_bank, Forced(1, 2, 7))
        serve(banks, [0, 1, 2], times=9)
        after(banks)
        following = banks.two_bank.following
        assert following is not None
        following.see(banks.two_bank.table.is_hot())
        assert not following.policy.scores.any()
        assert following.policy.guard.ahead == 0
        assert (following.done.served_cold, following.done.oracle_cold) == (0, 0)


def an_exclusive_banks_swap_is_charged_two_rows() -> None:
    """A mirror's one."""
    for mode, rows in zip(MODES, (1, 2), strict=True):
        banks = made(mode)
        follow(banks.two_bank, PACE)
        following = banks.two_bank.following
        assert following is not None
        assert following.policy.swap_bytes == [rows * row_bytes(banks)] * 2


def a_map_that_was_set_before_is_held_against_that_of_the_boot() -> None:
    """Whatever is hot when following begins."""
    banks = made()
    set_map(banks.two_bank, [[4, 5, 6, 7]] * 2)
    follow(banks.two_bank, PACE)
    following = banks.two_bank.following
    assert following is not None
    assert [state.nonzero()[0].tolist() for state in following.policy.boot] == [[0, 1, 2, 3]] * 2


def neither_true_nor_false_freezes_nothing() -> None:
    """As JSON may have it."""
    banks = made()
    follow(banks.two_bank, PACE)
    for each in ("false", 0, 1, None, [0]):
        assert raised(Refused, partial(freeze, banks.two_bank, frozen=each)), each
    assert banks.two_bank.following is not None
    assert not banks.two_bank.following.policy.frozen


CHECKS = (
    the_map_follows_what_is_picked,
    without_following_nothing_moves,
    no_total_goes_down_when_following_ends_and_begins_anew,
    a_new_pace_keeps_what_was_seen,
    nothing_ends_it,
    frozen_it_stays_and_thawed_it_goes_on,
    settings_that_are_none_are_refused_and_change_nothing,
    a_map_is_set_whole_past_every_budget,
    a_mirror_takes_a_map_with_free_rows_and_an_exclusive_bank_does_not,
    maps_that_are_none_are_refused_and_move_nothing,
    a_set_map_is_followed_from,
    counts_that_are_not_exact_end_it_once,
    swaps_that_fail_are_tried_again,
    forced_swaps_come_between,
    a_map_that_is_set_while_the_moving_one_is_not_trusted_stays,
    a_map_that_is_set_as_it_is_served_is_trusted_anew,
    what_was_picked_before_a_map_is_set_is_not_charged_to_it,
    what_is_picked_while_rows_are_swapped_at_random_is_left_out,
    an_exclusive_banks_swap_is_charged_two_rows,
    a_map_that_was_set_before_is_held_against_that_of_the_boot,
    neither_true_nor_false_freezes_nothing,
)


if __name__ == "__main__":
    tell(CHECKS)
