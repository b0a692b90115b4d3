"""What a guess is worth."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from lanewright.errors import ExitCode, MismatchError
from lanewright.residency.guess.guessers import (
    CONTROL,
    GUESSERS,
    require_exact,
    scoreboard,
    truth,
)
from lanewright.residency.guess.lead import Lead, arriving
from lanewright.residency.guess.ranks import best, distinct
from lanewright.residency.guess.score import clustered, places, score
from tests.residency import requests, traffic
from tests.residency.guess.asked import asked, in_turn, several


def test_names_are_in_order_and_unknown_ones_are_left_out() -> None:
    assert best(np.array([[0, 3, 3, 1]]), 4).tolist() == [[1, 2, 3, -1]]
    assert best(np.array([0.5, 0.0, 0.1]), 2).tolist() == [0, 2]
    assert distinct(np.array([[5, 2, 5, -1, 2, 7]]), 4).tolist() == [[5, 2, 7, -1]]
    assert distinct(np.array([[-1, -1]]), 3).tolist() == [[-1, -1, -1]]


def test_places_of_picks() -> None:
    ranks = np.array([[[4, 2, -1, -1]]], np.int32)
    assert places(ranks, np.array([[[2, 3]]])).tolist() == [[[1, 4]]]


def test_a_score_by_hand() -> None:
    """Two layers of six experts, two a token; 0 and 1 are resident."""
    held = [[[0, 2], [3, 4]], [[2, 3], [0, 1]]]
    found = in_turn([[[0, 1], [0, 1]], [[0, 1], [0, 1]], *held], 6, 2)
    setting = asked(found, hot=2, learn=0.5)
    ranks = np.array(
        [
            [[0, 5, 2, -1, -1, -1], [-1, -1, -1, -1, -1, -1]],
            [[2, 3, -1, -1, -1, -1], [5, 4, 3, 2, 1, 0]],
        ],
        np.int32,
    )
    told = score(setting, ranks)
    assert told.guessed == 3 / 4
    assert told.recall_where_guessed == 3 / 6
    two, four, six = told.wide
    assert (two.names, four.names, six.names) == (2, 4, 6)
    assert (two.chance, four.chance, six.chance) == (2 / 6, 4 / 6, 1)
    # Of eight picks 0, 2 and 3 are among the first two names, 2 of the first token among four.
    assert (two.recall, four.recall, six.recall) == (3 / 8, 4 / 8, 6 / 8)
    assert (two.error, two.precision) == (None, 3 / 6)
    # Cold are 2, 3, 4 of the first token and 2, 3 of the second.
    assert (two.cold_recall, four.cold_recall) == (2 / 5, 3 / 5)
    # Forward by forward: 5; and 2, 3 and 5, 4.
    assert (two.rows.copied, two.rows.useful, two.rows.missed) == (5, 2, 3)
    assert (four.rows.copied, four.rows.useful, four.rows.missed) == (8, 3, 2)


def test_tokens_of_one_forward_share_a_row() -> None:
    ids = np.array([[[0, 1]], [[2, 3]], [[2, 4]]])
    found = requests.recorded(
        ids,
        6,
        forward=np.array([0, 1, 1]),
        request=np.array([0, 1, 2]),
        position=np.array([0, 0, 0]),
    )
    setting = asked(found, learn=0.3)
    ranks = np.array([[[2, 5]], [[2, 3]]], np.int32)
    rows = score(replace(setting), np.pad(ranks, ((0, 0), (0, 0), (0, 4)), constant_values=-1))
    # 2, 3 and 5 are copied once; 2 and 3 are picked, the latter by the other token; 4 is missed.
    one = rows.wide[0].rows
    assert (one.copied, one.useful, one.missed) == (3, 2, 1)


def test_an_error_is_that_of_requests_and_not_of_tokens() -> None:
    hits, two = np.array([2, 2, 0, 0]), np.full(4, 2)
    share, error = clustered(hits, two, np.array([0, 0, 1, 1]))
    assert share == 0.5
    assert error == pytest.approx(sqrt(2 / 1 * (2**2 + 2**2)) / 8)
    # All alike from request to request: nothing is uncertain about the next one.
    assert clustered(np.array([2, 0, 2, 0]), two, np.array([0, 0, 1, 1])) == (0.5, 0.0)
    # Of what is not alike often, the ratio's: 3 of 5, apart 1.8 and -1.8.
    share, error = clustered(np.array([3, 0]), np.array([2, 3]), np.array([0, 1]))
    assert share == 0.6
    assert error == pytest.approx(sqrt(2 * 2 * 1.8**2) / 5)
    assert clustered(np.zeros(2, np.int64), np.zeros(2, np.int64), np.arange(2)) == (None, None)
    assert clustered(hits, two, np.zeros(4, np.int64)) == (0.5, None)


def test_the_control_scores_exactly_one() -> None:
    setting = asked(several(), hot=4)
    control = score(setting, truth(setting))
    assert [each.recall for each in control.wide] == [1.0, 1.0, 1.0]
    assert control.wide[0].cold_recall == control.guessed == 1.0
    rows = control.wide[0].rows
    assert (rows.copied, rows.missed) == (rows.useful, 0)
    require_exact(control)


def test_a_control_that_scores_less_ends_with_5(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = asked(several())
    stale = truth(setting)
    stale[0, 0, 0] = (stale[0, 0, 0] + 1) % 16 if stale[0, 0, 1] != 15 else 0
    with pytest.raises(MismatchError, match="not 1") as found:
        require_exact(score(setting, stale))
    assert found.value.exit_code == ExitCode.MISMATCH
    monkeypatch.setitem(
        GUESSERS, CONTROL, replace(GUESSERS[CONTROL], ranked=lambda _setting: stale)
    )
    with pytest.raises(MismatchError):
        list(scoreboard(setting, GUESSERS))


@pytest.mark.parametrize("experts", [16, 64])
def test_chance_is_what_names_at_random_recall(experts: int) -> None:
    setting = asked(several(40, 20, experts=experts), hot=4)
    (found,) = scoreboard(setting, ["random"])
    assert found.score is not None
    for wide in found.score.wide:
        assert wide.error
        assert wide.chance == wide.names / experts
        assert abs(wide.recall - wide.chance) <= 3 * wide.error


def test_a_table_is_perfect_where_one_layer_follows_from_the_other() -> None:
    """Each expert sends its tokens to one of its own in the next layer."""
    first = traffic.uniform(2000, 1, 16, 2)
    ids = np.concatenate([first, (first * 5 + 3) % 16, (first * 11 + 1) % 16], axis=1)
    setting = asked(in_turn(ids, 16, 20))
    learned, same = scoreboard(setting, ["layer-table", "previous-layer"])
    assert learned.score is not None
    assert same.score is not None
    assert learned.score.recall_where_guessed == 1.0
    assert learned.score.recall == learned.score.guessed == pytest.approx(2 / 3)
    assert same.score.recall < 0.2


def test_uniform_traffic_tells_nobody_anything() -> None:
    ids = traffic.uniform(3000, 2, 16, 2)
    setting = asked(in_turn(ids, 16, 30))
    for found in scoreboard(setting, ["previous-step", "request", "global", "eam", "lru-cache"]):
        assert found.score is not None
        assert abs(found.score.recall - 2 / 16) < 0.02, found.name


def test_leads() -> None:
    assert Lead("", steps=1).seconds(0.015, 5, 0.5) == 0.015
    assert Lead("", layers=1).seconds(0.015, 5, 0.5) == pytest.approx(0.003)
    assert Lead("", attention=1).seconds(0.015, 5, 0.4) == pytest.approx(0.0012)
    assert Lead("", standing=True).seconds(0.015, 5, 0.4) is None
    assert Lead("", copies=False).seconds(0.015, 5, 0.4) is None


@pytest.mark.parametrize(
    ("lead", "copy", "wanted", "there"),
    [
        (0.9, 1.0, 2.0, 0.0),  # not even one
        (2.5, 1.0, 9.0, 2.0),  # within a layer whole copies count
        (2.5, 1.0, 1.5, 1.5),
        (90.0, 1.0, 9.0, 3.0),  # the link has a layer's time for a layer, and no more
        (90.0, 6.0, 9.0, 0.5),  # a row in every second layer
        (float("inf"), 1.0, 2.0, 2.0),
    ],
)
def test_what_arrives(lead: float, copy: float, wanted: float, there: float) -> None:
    assert arriving(lead, copy, 3.0, wanted) == there
