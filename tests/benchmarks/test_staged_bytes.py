"""What the benchmark of staged bytes calls missed: each fault of an engine's counts by itself."""

from typing import Any

import pytest

from benchmarks.staged_bytes import LENGTHS, crossing, missed, told
from expert_bank.staging.threshold import Cold

# 4 layers of 64 experts, 15 of them cold, 4 picks a token, and 48 prompts of each length.
SLOTS, PICKS, ROW, PROMPTS = [15] * 4, 4, 24576, 48
COLD = Cold.of(SLOTS, PICKS)
SHARES = {"most used": 0.08, "as booted": 0.2344, "least used": 0.5}
Facts = dict[str, Any]


def row(name: str, share: float, length: int) -> Facts:
    """What an engine counts whose bytes are those of the arithmetic."""
    least, moved = COLD.least(share), PROMPTS * COLD.rows * ROW
    staged = length >= least
    reads = round(PROMPTS * length * COLD.picks * share)
    none = {"steps": PROMPTS, "staged_steps": 0, "staged_bytes": 0, "below": 0}
    return {
        "map": name,
        "length": length,
        "share": [share, share],
        "least": [least, least],
        "in_place": {**none, "cold_picks": reads},
        "staged": {**none, "staged_steps": PROMPTS, "staged_bytes": moved, "cold_picks": reads},
        "decided": {
            **none,
            "staged_steps": PROMPTS * staged,
            "staged_bytes": moved * staged,
            "below": PROMPTS * (not staged),
        },
    }


@pytest.fixture
def counted() -> Facts:
    rows = [row(name, share, length) for name, share in SHARES.items() for length in LENGTHS]
    return {"rows": rows, "slots": SLOTS, "picks": PICKS, "row_bytes": [ROW], "experts": 64}


def at(counted: Facts, name: str, length: int) -> Facts:
    """The row of a map and a length."""
    (found,) = (r for r in counted["rows"] if (r["map"], r["length"]) == (name, length))
    given: Facts = found
    return given


def test_counts_of_the_arithmetic_miss_nothing(counted: Facts) -> None:
    assert missed(counted) == []
    # Both sides of each map's crossing were measured, or nothing would have been shown.
    for name in SHARES:
        sides = {r["length"] >= r["least"][1] for r in counted["rows"] if r["map"] == name}
        assert sides == {True, False}
    assert len([*told(counted)]) == 2 + len(counted["rows"])


def test_a_byte_too_few_is_missed(counted: Facts) -> None:
    at(counted, "as booted", 64)["staged"]["staged_bytes"] -= 1
    assert missed(counted) == [
        f"as booted, 64 tokens: {PROMPTS * COLD.rows * ROW - 1} bytes in 48 steps"
    ]


@pytest.mark.parametrize(
    ("arm", "name", "value"),
    [("in_place", "staged_bytes", 1), ("decided", "below", 1), ("decided", "staged_steps", 47)],
)
def test_a_step_that_is_neither_staged_nor_below_is_missed(
    counted: Facts, arm: str, name: str, value: int
) -> None:
    at(counted, "as booted", 64)[arm][name] = value
    assert "as booted, 64 tokens: steps were neither staged nor below the threshold" in missed(
        counted
    )


@pytest.mark.parametrize("late", [0, 1])
def test_another_threshold_than_the_bytes_is_missed(counted: Facts, late: int) -> None:
    at(counted, "least used", 400)["least"][late] += 1
    (line,) = missed(counted)
    assert line.startswith("least used, 400 tokens: the threshold is [")


@pytest.mark.parametrize(("length", "staged"), [(400, 0), (1, PROMPTS), (400, PROMPTS - 1)])
def test_steps_on_the_wrong_side_are_missed(counted: Facts, length: int, staged: int) -> None:
    at(counted, "as booted", length)["decided"] |= {
        "staged_steps": staged,
        "below": PROMPTS - staged,
    }
    assert missed(counted) == [f"as booted, {length} tokens: {staged} steps were staged"]


@pytest.mark.parametrize("staged", [0, 20, PROMPTS])
def test_a_threshold_that_moved_over_a_length_says_nothing_of_it(
    counted: Facts, staged: int
) -> None:
    """While prompts of 16 tokens were asked, the share fell: any number of them may be staged."""
    each = at(counted, "as booted", 16)
    assert each["least"] == [16, 16]
    each["share"], each["least"] = [0.2344, 0.2], [16, COLD.least(0.2)]
    each["decided"] |= {"staged_steps": staged, "below": PROMPTS - staged}
    assert missed(counted) == []


@pytest.mark.parametrize(("length", "times"), [(64, 0.2), (1, 20.0)])
def test_bytes_that_cross_elsewhere_are_missed(counted: Facts, length: int, times: float) -> None:
    each = at(counted, "as booted", length)["in_place"]
    each["cold_picks"] = round(each["cold_picks"] * times)
    read = each["cold_picks"] / PROMPTS
    assert missed(counted) == [
        f"as booted, {length} tokens: {read:.2f} rows in place against {COLD.rows}"
    ]


def test_near_the_crossing_few_prompts_prove_nothing() -> None:
    """Within a quarter of the threshold, or a token."""
    share = SHARES["as booted"]
    for length in (12, 20):
        near = row("near", share, length)
        near["in_place"]["cold_picks"] = 0 if length > 16 else 10**6
        assert [*crossing("near", [near], COLD.rows)] == []
    for length in (11, 21):
        far = row("far", share, length)
        far["in_place"]["cold_picks"] = 0 if length > 16 else 10**6
        assert len([*crossing("far", [far], COLD.rows)]) == 1
