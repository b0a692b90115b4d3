"""How long scores take to tell experts apart, against scores that are added up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank import telling
from expert_bank.pace import Pace
from expert_bank.telling import Rate, barriers_to_tell
from tests.residency.traffic import drawn

EVEN = 4 / 49
LEAVING, ARRIVING = Rate(EVEN, 0), Rate(0, EVEN)


def passes(ours: float, theirs: float, tokens: int, pace: Pace) -> bool:
    """The policy's rule, said once more, of scores at rest."""
    above, kept = ours - theirs, 0.5 ** (tokens / pace.half_life)
    spread = mean_weight(tokens, pace) / (1 + kept)
    return (
        above > (pace.ratio - 1) * theirs + pace.margin
        and above**2 > pace.noise**2 * (ours + theirs) * spread
    )


def mean_weight(tokens: int, pace: Pace) -> float:
    """Of the picks of a barrier."""
    return float((1 - 0.5 ** (tokens / pace.half_life)) / (tokens * np.log(2) / pace.half_life))


@given(
    st.integers(64, 5000),
    st.integers(1, 700),
    st.sampled_from([1.0, 1.25, 2.0]),
    st.sampled_from([0.0, 4.0, 30.0]),
    st.sampled_from([0.0, 4.0]),
    st.tuples(*[st.sampled_from([0, 0.01, 0.05, 0.08, 0.5])] * 4),
)
def test_expected_scores_pass_at_the_barrier_that_is_told(
    half_life: int, tokens: int, ratio: float, margin: float, noise: float, rates: tuple[float, ...]
) -> None:
    pace = Pace(half_life=half_life, ratio=ratio, margin=margin, noise=noise)
    leaving = Rate(max(rates[:2]), min(rates[:2]))
    arriving = Rate(min(rates[2:]), max(rates[2:]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(telling, "UNLUCKY", 0.0)
        found = barriers_to_tell(pace, tokens, leaving, arriving)
    kept = 0.5 ** (tokens / half_life)
    weight = mean_weight(tokens, pace)
    ours, theirs = (rate.before * tokens * weight / (1 - kept) for rate in (arriving, leaving))
    last = 40 * half_life // tokens + 1
    passed = []
    for _ in range(last):
        ours = ours * kept + arriving.after * tokens * weight
        theirs = theirs * kept + leaving.after * tokens * weight
        passed.append(passes(ours, theirs, tokens, pace))
    if found is None:
        assert not any(passed[:-2])
    else:
        # Within a rounding of the threshold, either barrier is right.
        assert all(passed[found : last - 1])
        assert not any(passed[: max(0, found - 2)])


def test_where_no_margin_binds_the_half_life_and_the_ratio_say_it() -> None:
    pace = Pace(half_life=2048, ratio=1.25, margin=0, noise=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(telling, "UNLUCKY", 0.0)
        found = barriers_to_tell(pace, 1, Rate(0.1, 0), Rate(0, 0.1))
    # 1 - x = 1.25 x, x halved every half-life
    assert found == pytest.approx(2048 * np.log2(2.25), abs=1)


def test_scores_of_random_picks_pass_in_time() -> None:
    pace, tokens, pairs = Pace(), 64, 400
    found = barriers_to_tell(pace, tokens, LEAVING, ARRIVING)
    assert found is not None
    before = 10 * pace.half_life // tokens
    late = drawn((7,), (before + found, tokens, pairs)) < EVEN
    kept, weight = 0.5 ** (tokens / pace.half_life), mean_weight(tokens, pace)
    ours = theirs = np.zeros(pairs)
    told = []
    for barrier, picks in enumerate(late.sum(axis=1)):
        old = barrier < before
        theirs = theirs * kept + weight * picks * old
        ours = ours * kept + weight * picks[::-1] * (not old)
        told.append(sum(passes(a, b, tokens, pace) for a, b in zip(ours, theirs, strict=True)))
    assert told[-1] == pairs
    assert told[before + found // 2] < pairs / 2


def test_what_is_picked_alike_is_never_told_apart() -> None:
    assert barriers_to_tell(Pace(), 64, Rate(0.1, 0.08), Rate(0, 0.08)) is None
    assert barriers_to_tell(Pace(half_life=128), 64, LEAVING, ARRIVING) is None


@pytest.mark.parametrize("pace", [Pace(half_life=2**53 - 1), Pace(half_life=1)])
@pytest.mark.parametrize("tokens", [1, 2**70])
def test_any_pace_has_an_answer(pace: Pace, tokens: int) -> None:
    found = barriers_to_tell(pace, tokens, Rate(1, 0), Rate(0, 1))
    assert found is None or found >= 1


@pytest.mark.parametrize(
    ("tokens", "leaving", "arriving", "why"),
    [
        (0, LEAVING, ARRIVING, "a barrier every 0 tokens"),
        (1, Rate(0, 1), ARRIVING, "leaves, and"),
        (1, LEAVING, Rate(1, 0), "leaves, and"),
        (1, Rate(0, -1), ARRIVING, "leaves, and"),
        (1, LEAVING, Rate(-1, 0), "leaves, and"),
    ],
)
def test_rates_that_cannot_be(tokens: int, leaving: Rate, arriving: Rate, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        barriers_to_tell(Pace(), tokens, leaving, arriving)
