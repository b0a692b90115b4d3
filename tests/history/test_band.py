"""How wide a band is, what a ratio comes to beside it, and what is not counted."""

import math

import pytest

from lanewright.history.band import Timed, ratio_of, spread, why_not_counted, width, word_of

RUN = "20261101T020000Z-01234567"
EARLIER = "20261031T020000Z-01234567"
BASELINE = Timed(2816, 10.0, RUN, 1)


@pytest.mark.parametrize(
    ("ratios", "found"),
    [
        ([], None),
        ([1.0], 0.0),
        ([1.0, 0.99, 1.05], 0.05),
        ([0.93, 1.0, 1.05], 0.07),
        # Of nine the farthest, of ten one is left out, of twenty two.
        ([1.3] + 8 * [1.01], 0.3),
        ([1.3] + 9 * [1.01], 0.01),
        ([1.3, 0.8] + 17 * [1.01], 0.2),
        ([1.3, 0.8] + 18 * [1.01], 0.01),
        ([1.3, 0.8, 0.9] + 17 * [1.01], 0.1),
    ],
)
def test_the_spread_is_the_farthest_but_for_outliers(
    ratios: list[float], found: float | None
) -> None:
    assert spread(ratios) == found
    assert spread(ratios[::-1]) == found


@pytest.mark.parametrize(
    ("floor", "own", "ratios", "found"),
    [
        (0.03, None, [], 0.03),
        (0.03, 1.0, [1.0, 0.99, 1.02], 0.03),
        (0.03, 1.0, [1.0, 0.99, 1.05], 0.05),
        (0.01, 1.0, [1.0, 0.99, 1.005], 0.01),
        (0.08, 0.95, [0.95], 0.08),
        # What the machine did in this very window is no outlier.
        (0.03, 0.75, [0.75] + 19 * [1.0], 0.25),
        (0.03, 1.0, [1.0, 0.75] + 18 * [1.0], 0.03),
    ],
)
def test_the_band_is_the_widest_of_floor_own_and_spread(
    floor: float, own: float | None, ratios: list[float], found: float
) -> None:
    assert width(floor, own, ratios) == found


@pytest.mark.parametrize(
    ("ratio", "band", "word"),
    [
        (1.0, 0.03, "within the drift"),
        (1.03, 0.03, "within the drift"),
        (0.97, 0.03, "within the drift"),
        (1.0301, 0.03, "faster"),
        (0.9699, 0.03, "slower"),
        (1.05, 0.05, "within the drift"),
        (0.95, 0.05, "within the drift"),
        (0.9499, 0.05, "slower"),
        (0.93, 0.07, "within the drift"),
        (0.0, 0.999, "slower"),
    ],
)
def test_on_the_edge_is_within(ratio: float, band: float, word: str) -> None:
    assert word_of(ratio, band) == word


def test_what_is_judged_is_what_is_told() -> None:
    """0.97 is not a float, and no clock is as exact as one."""
    arm = Timed(2816, 10.0 / 0.96996, RUN, 1)
    assert ratio_of(arm, BASELINE) == 0.97
    assert word_of(0.97, 0.03) == "within the drift"


@pytest.mark.parametrize(
    ("arm", "baseline", "why"),
    [
        (Timed(2816, 11.0, RUN, 1), BASELINE, ""),
        (Timed(512, 1.0, RUN, None), Timed(512, 1.0, RUN, None), ""),
        (Timed(511, 1.0, RUN, 1), Timed(511, 1.0, RUN, 1), "511 tokens are too few: 512"),
        (Timed(2816, 11.0, RUN, 1), None, "its mode has no baseline"),
        (Timed(2816, 11.0, EARLIER, 1), BASELINE, f"it was resumed from run {EARLIER}"),
        (
            Timed(2816, 11.0, RUN, 1),
            Timed(2816, 10.0, EARLIER, 1),
            f"its baseline was resumed from run {EARLIER}",
        ),
        # Both of one window, but of none of this run's.
        (
            Timed(2816, 11.0, EARLIER, 1),
            Timed(2816, 10.0, EARLIER, 1),
            f"it was resumed from run {EARLIER}",
        ),
        (Timed(2816, 11.0, RUN, 2), BASELINE, "it ran on 2 cores, its baseline on 1 core"),
        (Timed(2816, 11.0, RUN, None), BASELINE, "it ran on cores that are not told, its"),
        (Timed(2815, 11.0, RUN, 1), BASELINE, "it gave 2815 tokens, its baseline 2816"),
        (
            Timed(2816, 4e-300, RUN, 1),
            Timed(2816, 4e300, RUN, 1),
            "it is farther from its baseline than a number can tell",
        ),
    ],
)
def test_what_is_not_counted_says_why(arm: Timed, baseline: Timed | None, why: str) -> None:
    found = why_not_counted(RUN, arm, baseline)
    assert found.startswith(why)
    assert bool(found) is bool(why)


@pytest.mark.parametrize(
    ("tokens", "seconds"),
    [
        (2816, 0.0),
        (2816, -1.0),
        (2816, math.inf),
        (2816, -math.inf),
        (2816, math.nan),
        (2816, 5e-324),
        (0, 1.0),
        (-2816, 1.0),
        (-2816, -1.0),
    ],
)
def test_damaged_numbers_are_no_measure(tokens: int, seconds: float) -> None:
    damaged = Timed(tokens, seconds, RUN, 1)
    assert damaged.rate is None
    assert ratio_of(damaged, BASELINE) is None
    assert ratio_of(BASELINE, damaged) is None
    told = f"{tokens} tokens in {seconds} s are no measure"
    assert why_not_counted(RUN, damaged, BASELINE) == f"its {told}"
    assert why_not_counted(RUN, BASELINE, damaged) == f"its baseline's {told}"


def test_a_ratio_is_of_one_run() -> None:
    assert ratio_of(Timed(2816, 12.5, RUN, 1), BASELINE) == 0.8
    assert ratio_of(Timed(2816, 12.5, EARLIER, 1), BASELINE) is None
    assert ratio_of(Timed(2816, 12.5, RUN, 1), None) is None
