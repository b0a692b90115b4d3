"""Whether the moving map is trusted."""

from expert_bank.guard import LOST, MOST_WON, Guard

W = 100


def windows(guard: Guard, *aheads: float, differing: float = 50) -> list[bool]:
    return [guard.weigh(W, ahead=each, differing=differing) for each in aheads]


def test_a_map_that_is_the_boot_map_is_never_given_up() -> None:
    guard = Guard(W)
    assert not any(windows(guard, *[0.0] * 50, differing=0))
    assert guard.trusted


def test_a_map_that_saves_is_trusted() -> None:
    guard = Guard(W)
    assert not any(windows(guard, *[5.0] * 50))
    assert guard.trusted


def test_a_window_lost_among_better_ones_is_borne() -> None:
    guard = Guard(W)
    windows(guard, 20.0, -5.0, -5.0, -5.0, 20.0, -5.0, -5.0, -5.0)
    assert guard.trusted


def test_two_lost_windows_end_it_and_the_last_must_be_one() -> None:
    guard = Guard(W)
    windows(guard, -5.0)
    assert guard.trusted
    assert windows(guard, -5.0) == [True]
    assert (guard.trusted, guard.fallbacks) == (False, 1)
    guard = Guard(W)
    assert windows(guard, -9.0, 5.0) == [False, False]
    assert windows(guard, -1.0) == [True]


def test_saving_nothing_is_losing_and_so_are_swaps_that_cost_what_they_save() -> None:
    guard = Guard(W)
    assert windows(guard, *[0.0] * LOST)[-1]
    assert not guard.trusted


def test_windows_are_of_tokens_whatever_the_barriers() -> None:
    guard = Guard(W)
    for _ in range(LOST * W - 1):
        assert not guard.weigh(1, ahead=-1, differing=1)
    assert guard.weigh(1, ahead=-1, differing=1)
    assert guard.ahead == -W


def test_it_comes_back_only_by_more_than_chance() -> None:
    guard = Guard(W)
    windows(guard, *[-5.0] * LOST)
    # Three times the root of 50 is 21.2.
    assert not any(windows(guard, *[21.0] * 50))
    assert windows(guard, 22.0) == [True]
    assert (guard.trusted, guard.returns) == (True, 1)


def test_each_loss_makes_the_way_back_longer_up_to_a_bound() -> None:
    guard, needed = Guard(W), []
    for _ in range(7):
        windows(guard, *[-5.0] * LOST)
        tries = 0
        while not guard.trusted:
            windows(guard, 1000.0)
            tries += 1
        needed.append(tries)
    assert needed == [1, 2, 4, 8, 16, 16, 16]


def test_long_trust_makes_it_short_again() -> None:
    guard = Guard(W)
    for _ in range(5):
        windows(guard, *[-50_000.0] * LOST)
        windows(guard, *[1000.0] * MOST_WON)
    windows(guard, *[1000.0] * (2 * MOST_WON))
    windows(guard, *[-50_000.0] * LOST)
    assert windows(guard, 1000.0) == [True]


def test_after_a_return_one_lost_window_is_borne_again() -> None:
    guard = Guard(W)
    windows(guard, *[-50.0] * LOST)
    assert windows(guard, 1000.0) == [True]
    assert windows(guard, -1.0) == [False]
    assert windows(guard, -1.0) == [True]


def test_a_map_that_is_trusted_anew_begins_a_window_and_owes_nothing() -> None:
    guard = Guard(W)
    windows(guard, -50.0)
    guard.weigh(W - 1, ahead=-7, differing=7)
    guard.trust_anew()
    assert not guard.weigh(W - 1, ahead=3, differing=3)
    assert guard.ahead == -50
    guard.weigh(1, ahead=-4, differing=4)
    assert (guard.trusted, guard.ahead) == (True, -1)
