"""What the policy swaps, over traffic that is made to trip it."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.pace import Pace
from expert_bank.policy import Policy
from expert_bank.swaps import Swap, require_sound
from expert_bank.weighing import weights
from lanewright.residency.oracle import oracle_map
from lanewright.residency.replay import Replayed, replay
from lanewright.residency.trace import counted
from tests.residency import traffic

L, E, K, H = 4, 64, 4, 49
TOKENS = 40_000
ROW = 100
NEVER = 2**40
# No memory, no hysteresis, no guard: what a policy does that swaps by every whim.
WHIM = Pace(half_life=64, tokens_per_swap=0, ratio=1, margin=0, noise=0, residence=0, window=NEVER)
# Any difference is worth a swap, but no more of them than usual.
ANY = Pace(ratio=1, margin=0, noise=0)


@dataclass(frozen=True)
class Played:
    policy: Policy
    found: Replayed
    fixed: int
    oracle: int

    @property
    def cold(self) -> int:
        return int(self.found.cold.sum())

    @property
    def swaps(self) -> int:
        return sum(map(len, self.found.swaps))

    def share(self, start: int, stop: int | None = None) -> float:
        return float(self.found.cold[start:stop].mean() / K)


def best(ids: np.ndarray) -> np.ndarray:
    return oracle_map(counted(ids, E), [H] * L)


def cold_of(ids: np.ndarray, hot: np.ndarray) -> int:
    return cold_of_counts(counted(ids, E), hot)


def cold_of_counts(counts: np.ndarray, hot: np.ndarray) -> int:
    return int(counts[~hot].sum())


def play(ids: np.ndarray, boot: np.ndarray, pace: Pace | None = None) -> Played:
    pace = pace or Pace()
    policy = Policy(boot, rows=[H] * L, row_bytes=[ROW] * L, picks_per_token=K, pace=pace)
    found = replay(policy, ids, boot, every=pace.every, rows=[H] * L, row_bytes=[ROW] * L)
    return Played(policy, found, cold_of(ids, boot), cold_of(ids, best(ids)))


@pytest.fixture(scope="module")
def home() -> np.ndarray:
    """The boot map of ``traffic.matched``, measured on its first tokens."""
    return best(traffic.matched(8192, L, E, K))


def test_matched_traffic_is_left_alone(home: np.ndarray) -> None:
    played = play(traffic.matched(TOKENS, L, E, K)[8192:], home)
    assert played.swaps == 0
    assert played.policy.guard.fallbacks == 0


def test_traffic_that_prefers_nothing_is_left_alone(home: np.ndarray) -> None:
    assert play(traffic.uniform(TOKENS, L, E, K), home).swaps == 0
    assert play(traffic.tie(TOKENS, L, E, K), home).swaps == 0
    assert play(traffic.uniform(TOKENS, L, E, K), home, WHIM).swaps > 1000


def test_after_a_switch_it_comes_near_the_oracle_and_settles(home: np.ndarray) -> None:
    at = 8192
    ids = traffic.switch(TOKENS, L, E, K, at=at)
    played = play(ids, home)
    oracle = cold_of(ids[-8192:], best(ids[-8192:])) / ids[-8192:].size
    fixed = cold_of(ids[-8192:], home) / ids[-8192:].size
    assert fixed > 2.5 * oracle
    assert played.share(-8192) <= 1.3 * oracle
    assert played.policy.guard.trusted
    assert max(map(len, played.found.swaps)) <= 2 * L
    late = played.found.swaps[-8192 // Pace().every :]
    assert sum(map(len, late)) <= 4


def test_even_the_reverse_of_what_it_knew_is_followed(home: np.ndarray) -> None:
    ids = traffic.reverse(TOKENS, L, E, K, at=8192)
    played = play(ids, home)
    oracle = cold_of(ids[-8192:], best(ids[-8192:])) / ids[-8192:].size
    assert played.share(-8192) <= 1.3 * oracle


def test_two_experts_around_the_threshold_do_not_alternate(home: np.ndarray) -> None:
    ids = traffic.thrash(TOKENS, L, E, K, hot=H, window=1024)
    settled = best(ids[: len(ids) // 2])
    assert play(ids, settled).swaps == 0
    assert play(ids, settled, WHIM).swaps > 100
    # Whatever it starts from: no more than the map is away from the best one.
    away = int((best(ids) & ~home).sum())
    assert play(ids, home).swaps <= away + L


def test_a_burst_is_bounded_and_the_boot_map_comes_back(home: np.ndarray) -> None:
    ids = traffic.burst(TOKENS, L, E, K, at=8192)
    played = play(ids, home)
    # Four hammered experts a layer, there and back.
    assert played.swaps <= 2 * 4 * L
    assert (played.policy.guard.trusted, played.policy.guard.fallbacks) == (False, 1)
    assert (played.found.hot == home).all()
    assert played.cold + played.swaps <= played.fixed


@pytest.mark.parametrize("period", [128, 512, 2048, 4096, 8192, 16384])
def test_traffic_that_flips_costs_little_more_than_a_map_of_both(period: int) -> None:
    mixed = best(traffic.domain_flip(16384, L, E, K, period=512))
    ids = traffic.domain_flip(65536, L, E, K, period=period)
    played = play(ids, mixed)
    assert played.cold + played.swaps <= 1.03 * played.fixed
    assert played.swaps <= 65536 / 4096 * L


def test_the_guard_is_what_bounds_it() -> None:
    mixed = best(traffic.domain_flip(16384, L, E, K, period=512))
    ids = traffic.domain_flip(65536, L, E, K, period=4096)
    eager = Pace(half_life=512, tokens_per_swap=32, noise=1, residence=0)
    guarded, unguarded = (
        play(ids, mixed, each) for each in (eager, Pace(**{**vars(eager), "window": NEVER}))
    )
    assert guarded.policy.guard.fallbacks > 0
    assert guarded.cold + guarded.swaps < unguarded.cold + unguarded.swaps
    assert guarded.swaps < unguarded.swaps / 2


def test_the_guard_falls_back_and_comes_back(home: np.ndarray) -> None:
    ids = traffic.burst(TOKENS, L, E, K, at=8192)
    other = traffic.matched(TOKENS, L, E, K, seed=1)
    played = play(np.concatenate([ids, other]), home)
    guard = played.policy.guard
    assert (guard.trusted, guard.fallbacks, guard.returns) == (True, 1, 1)
    oracle = cold_of(other[-8192:], best(other[-8192:])) / other[-8192:].size
    assert played.share(-8192) <= 1.3 * oracle


def test_frozen_it_scores_and_swaps_nothing(home: np.ndarray) -> None:
    policy = Policy(home, rows=[H] * L, row_bytes=[ROW] * L, picks_per_token=K)
    policy.frozen = True
    counts = counted(traffic.matched(4096, L, E, K, seed=1), E)
    assert policy.step(counts, [*home], 2**63) == []
    assert policy.scores.sum() == pytest.approx(counts.sum() * weights(4096, 2048).mean)
    policy.frozen = False
    assert policy.step(counts, [*home], 2**63)


def test_the_budget_holds_and_what_it_holds_back_is_told(home: np.ndarray) -> None:
    ids = traffic.switch(TOKENS, L, E, K, at=4096)
    policy = Policy(home, rows=[H] * L, row_bytes=[ROW] * L, picks_per_token=K, rows_per_swap=2)
    counts = counted(ids[4096:8192], E)
    (only,) = policy.step(counts, [*home], 2 * ROW)
    assert policy.held_back > 0
    whole = Policy(home, rows=[H] * L, row_bytes=[ROW] * L, picks_per_token=K)
    assert whole.step(counts, [*home], 2**63)[0] == only
    assert policy.step(counts, [*home], 2 * ROW - 1) == []


def test_what_a_shadow_holds_back_waits_for_nobody(home: np.ndarray) -> None:
    other = best(traffic.matched(8192, L, E, K, seed=1))
    counts = counted(traffic.matched(4096, L, E, K, seed=1), E)
    # The served map is that of the boot, and then one from which 2 swaps a layer lead back.
    for hot, waiting in ((home, 0), (other, 2 * L - 1)):
        policy = Policy(home, rows=[H] * L, row_bytes=[ROW] * L, picks_per_token=K)
        policy.guard.trusted = False
        policy.step(counts, [*hot], ROW)
        assert (policy.shadow != home).any()
        assert policy.held_back == waiting


def test_a_swap_that_was_not_made_is_charged_to_nobody(home: np.ndarray) -> None:
    counts = counted(traffic.matched(4096, L, E, K, seed=1), E)
    one, other = (
        Policy(home, rows=[H] * L, row_bytes=[ROW] * L, picks_per_token=K) for _ in range(2)
    )
    asked = one.step(counts, [*home], 2**63)
    assert asked == other.step(counts, [*home], 2**63)
    few = np.zeros_like(counts)
    few[:, 0] = K
    # None was made: they are asked for again at once. All were: their experts stay where they are.
    assert one.step(few, [*home], 2**63) == asked
    made = home.copy()
    for swap in asked:
        assert swap.promote
        assert swap.demote
        made[swap.layer, swap.promote] = True
        made[swap.layer, swap.demote] = False
    again = other.step(few, [*made], 2**63)
    moved = {(each.layer, expert) for each in asked for expert in (each.promote, each.demote)}
    assert not moved & {(e.layer, x) for e in again for x in (e.promote, e.demote)}


def test_a_swap_costs_the_rows_that_it_copies() -> None:
    pace = Pace(every=1, tokens_per_swap=0, ratio=1, margin=0, noise=0, residence=0, window=2)
    boot = np.array([[True, False]])
    for rows_per_swap in (1, 2):
        policy = Policy(
            boot,
            rows=[1],
            row_bytes=[ROW],
            picks_per_token=1,
            rows_per_swap=rows_per_swap,
            pace=pace,
        )
        assert policy.step(np.array([[0, 1]]), [*boot], 2**63) == [Swap(0, 1, 0)]
        policy.step(np.array([[0, 1]]), [*~boot], 2**63)
        # Two picks, the second of which the boot map would have had cold; and the one swap's rows.
        assert policy.guard.ahead == 1 - rows_per_swap
        policy.step(np.array([[0, 2]]), [*~boot], 2**63)
        assert policy.guard.ahead == 2


def test_the_way_back_is_within_the_same_budgets(home: np.ndarray) -> None:
    other = best(traffic.matched(8192, L, E, K, seed=1))
    policy = Policy(home, rows=[H] * L, row_bytes=[ROW] * L, picks_per_token=K)
    policy.guard.trusted = False
    away = int((home & ~other).sum(axis=1).min())
    assert away > Pace().swaps
    counts = counted(traffic.matched(64, L, E, K), E)
    swaps = policy.step(counts, [*other], 2**63)
    assert [sum(each.layer == layer for each in swaps) for layer in range(L)] == [2] * L
    assert len(policy.step(counts, [*other], 3 * ROW)) == 3


def test_the_guards_window_may_be_changed(home: np.ndarray) -> None:
    policy = Policy(home, rows=[H] * L, row_bytes=[ROW] * L, picks_per_token=K)
    policy.pace = Pace(window=64)
    policy.step(counted(traffic.matched(64, L, E, K, seed=1), E), [*~home], 0)
    assert policy.guard.ahead != 0


def test_what_is_seen_is_scored_and_judged_and_swaps_nothing(home: np.ndarray) -> None:
    one, other = (
        Policy(home, rows=[H] * L, row_bytes=[ROW] * L, picks_per_token=K) for _ in range(2)
    )
    counts = counted(traffic.matched(4096, L, E, K, seed=1), E)
    assert one.see(counts, [*home])
    other.step(counts, [*home], 0)
    assert (one.scores == other.scores).all()
    assert one.served_cold == other.served_cold == cold_of_counts(counts, home)
    assert not one.see(np.zeros_like(counts), [*home])


def test_regret_is_held_against_a_map_that_could_have_served() -> None:
    policy = Policy(np.array([[True, False, False]]), rows=[1], row_bytes=[ROW], picks_per_token=1)
    policy.frozen = True
    served = np.array([[False, True, False]])
    picked = np.array([[3, 1, 6]])
    # Nothing is known: the oracle map is that of the boot, not the best one for these picks.
    policy.step(picked, [*served], 0)
    assert (policy.served_cold, policy.oracle_cold, policy.regret_picks) == (9, 7, 2)
    # Now it has the third expert.
    policy.step(picked, [*served], 0)
    assert (policy.served_cold, policy.oracle_cold, policy.regret_picks) == (18, 11, 7)
    # Of traffic that turns it has more cold than the served map, and regret goes down.
    policy.step(np.array([[0, 9, 0]]), [*served], 0)
    assert (policy.served_cold, policy.oracle_cold, policy.regret_picks) == (18, 20, -2)


@pytest.mark.parametrize("every", [64, 1024])
def test_traffic_that_prefers_nothing_leaves_no_regret(home: np.ndarray, every: int) -> None:
    ids = traffic.uniform(TOKENS, L, E, K)
    policy = play(ids, home, Pace(every=every)).policy
    # Of picks that one of both maps has cold; at random as many of each.
    apart = 2 * ids.size * H / E * (1 - H / E)
    assert abs(policy.regret_picks) < 3 * apart**0.5
    found = policy.late.shares()
    assert found["late"] == pytest.approx(1 - H / E, abs=0.02)
    assert found["oracle"] == pytest.approx(1 - H / E, abs=0.02)


def test_the_best_map_that_stands_still_is_not_regretted() -> None:
    ids = traffic.matched(TOKENS, L, E, K)
    policy = play(ids, best(ids)).policy
    assert -0.01 * ids.size < policy.regret_picks <= 0


def test_a_map_that_somebody_set_is_trusted_anew(home: np.ndarray) -> None:
    policy = Policy(home, rows=[H] * L, row_bytes=[ROW] * L, picks_per_token=K)
    policy.guard.trusted = False
    policy.begin_from([*~home])
    assert policy.guard.trusted
    assert (policy.shadow == ~home).all()
    counts = counted(traffic.tie(64, L, E, K), E)
    assert policy.step(counts, [*~home], 2**63) == []


def phantom(home: np.ndarray) -> Policy:
    """A policy whose shadow has just made swaps that nobody served."""
    policy = Policy(home, rows=[H] * L, row_bytes=[ROW] * L, picks_per_token=K)
    policy.guard.trusted = False
    policy.step(counted(traffic.matched(4096, L, E, K, seed=1), E), [*home], 2**63)
    assert (policy.shadow != home).any()
    return policy


def test_what_a_shadow_swapped_is_never_paid_back(home: np.ndarray) -> None:
    policy = phantom(home)
    window = counted(traffic.matched(2048, L, E, K), E)
    policy.see(window[:, ::-1], [*home])
    policy.begin_from([*home])
    policy.see(window, [*home])
    # The map is that of the boot: there is nothing to win or lose.
    assert policy.guard.ahead == 0


def test_nor_is_what_it_swapped_charged_to_a_map_that_somebody_set(home: np.ndarray) -> None:
    policy = phantom(home)
    policy.begin_from([*home])
    policy.see(counted(traffic.matched(2048, L, E, K), E), [*home])
    assert policy.guard.ahead == 0


def test_nor_does_it_hold_experts_of_such_a_map_where_they_are(home: np.ndarray) -> None:
    policy, new = (
        Policy(home, rows=[H] * L, row_bytes=[ROW] * L, picks_per_token=K) for _ in range(2)
    )
    policy.guard.trusted = False
    # Seen by both before the map is set, and the shadow alone made swaps of it.
    counts = counted(traffic.matched(512, L, E, K, seed=1), E)
    policy.step(counts, [*home], 2**63)
    new.see(counts, [*home])
    for each in (policy, new):
        each.begin_from([*home])
    swaps = policy.step(counts, [*home], 2**63)
    assert len(swaps) == 2 * L
    assert swaps == new.step(counts, [*home], 2**63)


def test_a_shadow_that_won_begins_from_the_map_that_is_served(home: np.ndarray) -> None:
    pace = Pace(tokens_per_swap=2**40, window=256)
    policy = Policy(home, rows=[H] * L, row_bytes=[ROW] * L, picks_per_token=K, pace=pace)
    policy.guard.trusted = False
    other = counted(traffic.matched(4096, L, E, K, seed=1), E)
    policy.step(other, [*home], 2**63)
    imagined = {(int(each), int(expert)) for each, expert in np.argwhere(policy.shadow & ~home)}
    few = counted(traffic.matched(256, L, E, K, seed=1), E)
    policy.see(few, [*home])
    assert (policy.guard.trusted, policy.guard.returns) == (True, 1)
    assert (policy.shadow == home).all()
    # The shadow had spent what it had, and moved its experts just now; the served map has not.
    swaps = policy.step(few, [*home], 2**63)
    assert {(each.layer, each.promote) for each in swaps} == imagined
    assert len(swaps) == 2 * L


def test_a_swap_that_was_not_made_costs_no_row(home: np.ndarray) -> None:
    policy = Policy(home, rows=[H] * L, row_bytes=[ROW] * L, picks_per_token=K)
    assert policy.step(counted(traffic.matched(4096, L, E, K, seed=1), E), [*home], 2**63)
    policy.frozen = True
    policy.see(counted(traffic.matched(64, L, E, K), E), [*home])
    policy.frozen = False
    policy.see(counted(traffic.matched(2048, L, E, K), E), [*home])
    assert policy.guard.ahead == 0


def test_frozen_nothing_is_judged(home: np.ndarray) -> None:
    policy = Policy(home, rows=[H] * L, row_bytes=[ROW] * L, picks_per_token=K)
    policy.frozen = True
    # Each of these windows would be lost.
    for seed in range(4):
        policy.step(counted(traffic.matched(4096, L, E, K, seed=seed), E), [*~home], 2**63)
    assert (policy.guard.trusted, policy.guard.ahead) == (True, 0)


def test_the_first_barrier_may_swap(home: np.ndarray) -> None:
    policy = Policy(home, rows=[H] * L, row_bytes=[ROW] * L, picks_per_token=K, pace=ANY)
    swaps = policy.step(counted(traffic.matched(64, L, E, K, seed=1), E), [*home], 2**63)
    assert [sum(each.layer == layer for each in swaps) for layer in range(L)] == [2] * L
    policy = Policy(home, rows=[H] * L, row_bytes=[ROW] * L, picks_per_token=K, pace=ANY)
    policy.guard.trusted = False
    back = policy.step(counted(traffic.matched(64, L, E, K), E), [*~home], 2**63)
    assert [sum(each.layer == layer for each in back) for layer in range(L)] == [2] * L


def test_noise_is_in_deviations_of_a_large_step_too() -> None:
    # Six deviations of 8192 picks that may be either's are 543.
    for above, swaps in ((530, 0), (560, 1)):
        pace = Pace(ratio=1, margin=0, noise=6)
        policy = Policy(
            np.array([[True, False]]), rows=[1], row_bytes=[ROW], picks_per_token=1, pace=pace
        )
        counts = np.array([[4096 - above // 2, 4096 + above // 2]])
        assert len(policy.step(counts, [*policy.boot], 2**63)) == swaps


def test_swaps_come_in_the_order_of_what_they_save(home: np.ndarray) -> None:
    policy = Policy(home, rows=[H] * L, row_bytes=[ROW] * L, picks_per_token=K, pace=ANY)
    counts = counted(traffic.matched(4096, L, E, K, seed=1), E)
    swaps = policy.step(counts, [*home], 2**63)
    saved = [float(counts[s.layer, s.promote] - counts[s.layer, s.demote]) for s in swaps]
    assert saved == sorted(saved, reverse=True)
    layers = [each.layer for each in swaps]
    assert layers != sorted(layers)


def test_the_way_back_takes_its_time(home: np.ndarray) -> None:
    away = ~home
    away[:, :34] |= home[:, :34]
    policy = Policy(home, rows=[E] * L, row_bytes=[ROW] * L, picks_per_token=K)
    policy.guard.trusted = False
    few = counted(traffic.matched(64, L, E, K), E)
    counted_swaps = []
    for number in range(13):
        swaps = policy.step(few, [*away], 2**63)
        counted_swaps.append(len(swaps))
        if number != 4:
            for swap in swaps:
                if swap.promote is not None:
                    away[swap.layer, swap.promote] = True
                if swap.demote is not None:
                    away[swap.layer, swap.demote] = False
    # Two in hand, then one in 256 tokens; what was not made may be tried again at once.
    assert counted_swaps == [2 * L, 0, 0, 0, L, L, 0, 0, L, 0, 0, 0, L]


@given(
    st.integers(0, 2**30),
    st.integers(1, 3),
    st.integers(2, 12),
    st.sampled_from([WHIM, Pace(every=1, noise=0, margin=0, tokens_per_swap=1, window=8)]),
    st.integers(0, 1000),
)
def test_whatever_was_picked_the_swaps_are_sound_and_bounded(
    seed: int, layers: int, experts: int, pace: Pace, budget: int
) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, experts + 1, layers)
    boot = np.zeros((layers, experts), np.bool_)
    for layer, most in enumerate(rows):
        boot[layer, : rng.integers(0, most + 1)] = True
    hot = boot.copy()
    policy = Policy(
        boot, rows=rows.tolist(), row_bytes=[ROW] * layers, picks_per_token=1, pace=pace
    )
    for _ in range(12):
        counts = rng.integers(0, 20, (layers, experts))
        if rng.random() < 0.2:
            policy.frozen = not policy.frozen
        swaps = policy.step(counts, [*hot], budget)
        require_sound(swaps, [*hot])
        assert len(swaps) * ROW <= budget
        for layer in range(layers):
            assert sum(swap.layer == layer for swap in swaps) <= pace.swaps
        for swap in swaps:
            if swap.demote is not None:
                hot[swap.layer, swap.demote] = False
            if swap.promote is not None:
                hot[swap.layer, swap.promote] = True
        assert (hot.sum(axis=1) <= rows).all()


def test_an_expert_stays_where_it_was_put(home: np.ndarray) -> None:
    pace = Pace(half_life=32, tokens_per_swap=0, ratio=1, margin=0, noise=0, residence=4096)
    ids = traffic.domain_flip(16384, L, E, K, period=512)
    moved: dict[tuple[int, int], int] = {}
    played = play(ids, home, Pace(**{**vars(pace), "window": NEVER}))
    assert played.swaps
    for number, swaps in enumerate(played.found.swaps, 1):
        for swap in swaps:
            for expert in (swap.promote, swap.demote):
                assert expert is not None
                last = moved.get((swap.layer, expert))
                assert last is None or number * pace.every - last >= pace.residence
                moved[swap.layer, expert] = number * pace.every
