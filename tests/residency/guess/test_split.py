"""Requests are learned from or guessed at, and never both."""

from dataclasses import replace

import numpy as np
import pytest

from lanewright.residency.guess.all_requests import global_frequency
from lanewright.residency.guess.layer_before import table
from lanewright.residency.guess.same_request import eam
from lanewright.residency.guess.split import learned_requests
from tests.residency import requests, traffic
from tests.residency.guess.asked import asked, in_turn, several


@pytest.mark.parametrize("drawn", [False, True])
@pytest.mark.parametrize("share", [0.01, 0.25, 0.5, 0.99])
def test_no_request_is_on_both_sides(share: float, *, drawn: bool) -> None:
    # Requests that take turns, as a batch has them.
    found = requests.recorded(
        traffic.matched(200, 2, 8, 2), 8, request=np.arange(200) % 7, position=np.arange(200) // 7
    )
    learned = learned_requests(found, share, drawn=drawn, seed=3)
    assert not {*found.request[learned]} & {*found.request[~learned]}
    assert learned.any()
    assert not learned.all()


def test_the_first_requests_are_taken_until_they_have_the_share() -> None:
    found = in_turn(traffic.matched(40, 1, 8, 2), 8, 10)
    for share, many in ((0.1, 10), (0.25, 10), (0.26, 20), (0.75, 30), (0.99, 30)):
        assert np.flatnonzero(learned_requests(found, share)).tolist() == [*range(many)]


def test_drawn_ones_are_others_and_the_same_each_time() -> None:
    found = several()
    one, again, other = (learned_requests(found, 0.25, drawn=True, seed=s) for s in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_share_must_leave_something(share: float) -> None:
    with pytest.raises(ValueError, match="on both sides"):
        learned_requests(several(), share)
    with pytest.raises(ValueError, match="1 requests"):
        learned_requests(requests.recorded(traffic.matched(9, 1, 8, 2), 8), 0.5)


def test_what_is_held_out_changes_nothing_that_is_learned() -> None:
    """Other picks of the held-out requests: tables, frequencies and EAMs stay as they are."""
    found = several()
    before = asked(found, hot=4)
    held = np.flatnonzero(~before.learned)
    ids = found.ids.copy()
    # A permutation of the experts, in the held-out requests alone.
    ids[held] = np.random.Generator(np.random.PCG64(5)).permutation(16).astype(np.uint16)[ids[held]]
    after = asked(replace(found, ids=ids), hot=4)
    assert np.array_equal(before.boot, after.boot)
    assert np.array_equal(global_frequency(before), global_frequency(after))
    for layer in (1, 2):
        one, other = (table(each.trace.ids[each.learned], layer, 16) for each in (before, after))
        assert np.array_equal(one, other)
    # The EAMs that there are to be like are the same; which one it is like may not be.
    names = {tuple(row) for row in eam(before)[:, 0].tolist()}
    assert {tuple(row) for row in eam(after)[:, 0].tolist()} & names
