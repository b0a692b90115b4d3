"""The two banks of a GB300: both serve, swaps do swap, by the pull requests' code, under standing graphs."""

from collections.abc import Callable

import pytest

from lanewright.serve.features import BANKS
from tests.gb300.conftest import TWO_BANK, Ran

pytestmark = pytest.mark.gpu
ARMS = ("on", "swaps", "follows", "mapped")


@pytest.fixture
def found(ran: Callable[[str], Ran]) -> Ran:
    return ran(TWO_BANK)


@pytest.mark.parametrize("arm", ARMS)
def test_both_banks_serve(found: Ran, arm: str) -> None:
    experts = found.series.model.experts
    assert experts
    hot = int(str(found.series.engine[BANKS]))
    facts = found.facts(arm, BANKS)
    assert facts["workers"] == 1
    assert facts["hot_rows"] == hot * experts.layers
    assert facts["mixed_layers"] == experts.layers
    assert facts["picks"] == facts["tokens"] * experts.picks * experts.layers
    assert facts["hot_picks"] + facts["cold_picks"] == facts["picks"]
    assert facts["hot_picks"] > 0
    assert facts["cold_picks"] > 0
    assert facts["failed"] == 0


def test_rows_are_swapped_by_the_pull_requests_code(found: Ran) -> None:
    seams = {seam: source for seam, source in found.series.seams.items() if source != "own"}
    assert {*seams} == {"RowTable", "RowCopy", "HostRows"}
    for arm in ("swaps", "follows"):
        facts = found.facts(arm, BANKS)
        assert facts["swapped"] > 0
        assert facts["bytes"] > 0
        assert all(facts[f"{seam}_calls"] > 0 for seam in seams)
    assert found.facts("follows", BANKS)["decisions"] > 0


def test_graphs_are_captured_once_and_no_swap_captures_one_again(found: Ran) -> None:
    """One engine answers for all arms, so that the last count is behind every swap."""
    if found.mode == "eager":
        pytest.skip(f"{TWO_BANK} runs eager, and has no graph")
    counts = [found.engine(arm)["graphs"] for arm in ARMS]
    up = counts[0]["up"]
    assert up > 0
    assert counts == [{"up": up, "ended": up} for _ in ARMS]
    assert [found.facts(arm, BANKS)["graphs"] for arm in ARMS] == [up for _ in ARMS]
    assert found.facts("swaps", BANKS)["swapped"] > 0
