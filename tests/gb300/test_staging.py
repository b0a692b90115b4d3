"""Cold rows that are staged for prefills on a GB300: bytes that were copied, by the boot's own proof."""

from collections.abc import Callable

import pytest

from lanewright.serve.features import BANKS, COUNTER, STAGE
from tests.gb300.conftest import STAGING, TWO_BANK, Ran

pytestmark = pytest.mark.gpu


def test_picks_are_counted_where_a_pull_request_stages(ran: Callable[[str], Ran]) -> None:
    found = ran(STAGING)
    experts = found.series.model.experts
    assert experts
    facts = found.facts("on", COUNTER)
    assert facts["picks"] == facts["tokens"] * experts.picks * experts.layers > 0


@pytest.mark.parametrize("lane", [TWO_BANK, STAGING])
def test_prefills_are_served_from_staged_rows(ran: Callable[[str], Ran], lane: str) -> None:
    found = ran(lane)
    if STAGE not in found.series.engine:
        pytest.skip(f"{lane} has no {STAGE}, and nothing proves what else stages")
    for arm in ("on", "swaps", "follows", "mapped"):
        assert found.facts(arm, BANKS)["staged"] > 0
