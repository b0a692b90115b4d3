"""When the price's benchmark says that following wins, on drawn blocks."""

import random
from argparse import Namespace

import pytest

from benchmarks import cold_price, price_won
from benchmarks.inside_lane import Facts
from lanewright.errors import ExitCode

# Seconds a step, as one run measured them: its blocks differ by about so much.
MATCHED, FIXED, MOVED, SPREAD = 0.0103, 0.0146, 0.0114, 0.11
SEEDS = range(6)


def drawn(seed: int, *, fixed: float = FIXED, moved: float = MOVED, count: int = 40) -> list[Facts]:
    """Blocks whose steps take so long on average, each arm with noise of its own."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    means = {"matched": MATCHED, "fixed": fixed, "self": fixed, "moved": moved}
    return [
        {
            arm: {
                "seconds": mean * cold_price.STEPS * rng.lognormvariate(0, SPREAD),
                "cold": 48,
                "read": 2**20,
            }
            for arm, mean in means.items()
        }
        for _ in range(count)
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_most_of_a_real_cost_won_back_is_reached(seed: int) -> None:
    blocks = drawn(seed)
    assert price_won.missed(blocks) == []
    share = price_won.won(blocks)
    assert share is not None
    assert share.low < (FIXED - MOVED) / (FIXED - MATCHED) < share.high
    assert f"won back {share.told(3)} (wanted" in price_won.told(blocks)


@pytest.mark.parametrize("seed", SEEDS)
def test_noise_without_cost_or_win_is_inconclusive(seed: int) -> None:
    blocks = drawn(seed, fixed=MATCHED, moved=MATCHED)
    (told,) = price_won.missed(blocks)
    assert told.startswith("inconclusive: steps ")
    assert price_won.won(blocks) is None
    assert "what was won back of it is not known" in price_won.told(blocks)


def test_a_faster_map_wins_nothing_back_where_the_switch_cost_nothing() -> None:
    for fixed in (MATCHED, 0.9 * MATCHED):
        (told,) = price_won.missed(drawn(1, fixed=fixed, moved=0.7 * MATCHED))
        assert told.startswith("inconclusive: ")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cost_of_which_nothing_is_won_back_is_missed(seed: int) -> None:
    (told,) = price_won.missed(drawn(seed, moved=FIXED))
    assert told.startswith("won back ")
    assert told.endswith(" of what the switch cost is not surely 0.5")


def test_more_than_half_on_average_alone_is_not_enough() -> None:
    half = FIXED - 0.55 * (FIXED - MATCHED)
    share = price_won.won(drawn(3, moved=half))
    assert share is not None
    assert share.low < price_won.LEAST_WON < share.high
    assert price_won.missed(drawn(3, moved=half)) != []
    assert price_won.missed(drawn(3, moved=half, count=4000)) == []


def test_the_benchmark_ends_with_what_the_blocks_show(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    facts: Facts = {
        "experts": 8,
        "picks": 2,
        "layers": 1,
        "row_bytes": [2**20],
        "hot_rows": [6],
        "maps": {"boot": [[0, 1, 2, 3, 4, 5]], "moved": [[0, 1, 2, 3, 4, 7]]},
        "tokens": 1000,
        "forwards": 125,
        "swaps": 1,
    }
    for moved, fixed, code in (
        (MOVED, FIXED, ExitCode.CLEAN),
        (FIXED, FIXED, ExitCode.MISMATCH),
        (MATCHED, MATCHED, ExitCode.MISMATCH),
    ):
        found = {**facts, "blocks": drawn(0, fixed=fixed, moved=moved)}

        def measured(_asked: Namespace, found: Facts = found) -> Facts:
            return found

        monkeypatch.setattr(cold_price, "measured", measured)
        monkeypatch.setattr("sys.argv", ["cold_price"])
        assert cold_price.main() is code
        told = capsys.readouterr()
        assert price_won.told(found["blocks"]) in told.out
        assert "the map followed 1 swaps and stands still while it is timed\n" in told.out
        assert ("NOT REACHED" in told.err) == (code is not ExitCode.CLEAN)
