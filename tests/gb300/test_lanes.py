"""Both lanes come up in their images, and answer as the unpatched pin does: 44 of 44."""

from collections.abc import Callable

import pytest

from lanewright.serve.equality.prompts import MAX_TOKENS, PROMPTS
from tests.gb300.conftest import STAGING, TWO_BANK, Ran

pytestmark = [pytest.mark.gpu, pytest.mark.parametrize("lane", [TWO_BANK, STAGING])]


def test_it_boots_in_its_image(ran: Callable[[str], Ran], lane: str) -> None:
    found = ran(lane)
    assert found.record["verdict"] == "passed", found.record["error"]
    assert found.code == 0, found.said[-2000:]
    environment = found.record["environment"]
    assert environment["base"].startswith("sha256:")
    assert environment["machine"] == "aarch64"
    assert found.record["model"]["name"] == found.series.model.name
    assert found.record["shims"] == []


def test_every_greedy_answer_is_the_pins(ran: Callable[[str], Ran], lane: str) -> None:
    found = ran(lane)
    equality = found.equality
    assert (equality["verdict"], equality["tokens"]) == ("equal", MAX_TOKENS)
    (mode,) = equality["modes"]
    assert (mode["verdict"], mode["why"]) == ("equal", "")
    assert mode["distinct"] >= 200
    rows = {row["arm"]: row for row in mode["rows"]}
    assert {"self", "exchanged", "on"} <= {*rows}
    assert {row["prompts"] for row in rows.values()} == {len(PROMPTS)} == {44}
    assert rows.pop("exchanged")["equal"] < 44
    assert {arm: row["equal"] for arm, row in rows.items()} == dict.fromkeys(rows, 44)


def test_every_engine_was_tuned_by_one_file(ran: Callable[[str], Ran], lane: str) -> None:
    """The first tunes what no earlier run has; whoever comes later starts with that."""
    found = ran(lane)
    baseline = found.engine("baseline")["tactics"]["ended"]
    assert baseline
    assert found.engine("self")["tactics"]["ended"] == baseline
    on = found.engine("on")["tactics"]
    assert on["started"] == baseline
    assert {*on["ended"]} == {*baseline}
