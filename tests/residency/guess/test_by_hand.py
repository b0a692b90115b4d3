"""Each guesser on traces that are small enough to be guessed at by hand."""

import numpy as np
import pytest

from lanewright.residency.guess.all_requests import (
    at_random,
    cache_in_hindsight,
    cache_so_far,
    global_frequency,
)
from lanewright.residency.guess.guessers import head, truth
from lanewright.residency.guess.layer_before import by_table, same_ids, table
from lanewright.residency.guess.same_request import (
    draft,
    eam,
    previous_step,
    request_frequency,
)
from lanewright.residency.guess.setting import CannotGuess, Setting
from lanewright.residency.trace_file.recorded import DECODE, PREFILL, VERIFY
from tests.residency import requests, traffic
from tests.residency.guess.asked import asked, in_turn

# Two layers of eight experts, two a token; four tokens are learned from, four guessed at.
LEARNED = [
    [[0, 1], [4, 5]],
    [[0, 1], [4, 5]],
    [[0, 2], [4, 6]],
    [[3, 1], [7, 5]],
]
HELD = [
    [[0, 2], [4, 6]],
    [[0, 3], [4, 5]],
    [[1, 2], [6, 7]],
    [[1, 0], [4, 5]],
]


@pytest.fixture
def setting() -> Setting:
    return asked(in_turn([*LEARNED, *HELD], 8, 4), learn=0.5)


def test_the_layer_before_is_named_as_it_is(setting: Setting) -> None:
    found = same_ids(setting)
    assert found.shape == (4, 2, 6)
    assert (found[:, 0] == -1).all()
    assert found[:, 1].tolist() == [[*first, -1, -1, -1, -1] for first, _ in HELD]


def test_a_table_has_shares_of_what_followed(setting: Setting) -> None:
    found = table(setting.trace.ids[setting.learned], 1, 8)
    # Expert 0 was there three times, each time with 4; and 4 is in three of the four tokens.
    assert found[0, 4] == pytest.approx((3 + 3 / 5) / 4)
    assert found[0, 5] == pytest.approx((2 + 3 / 5) / 4)
    assert found[2].tolist() == pytest.approx(
        [0, 0, 0, 0, (1 + 0.6) / 2, 0.6 / 2, (1 + 0.2) / 2, 0.2 / 2]
    )
    # What was never there: the layer's own shares.
    assert found[7].tolist() == pytest.approx([0, 0, 0, 0, 0.6, 0.6, 0.2, 0.2])


def test_the_table_names_the_likeliest_of_both_causes(setting: Setting) -> None:
    found = by_table(setting)
    assert (found[:, 0] == -1).all()
    # Behind 0 and 2: 5 by 1 - (1 - 2.6 / 4) (1 - 0.6 / 2) = 0.755, 6 by 1 - (1 - 1.2 / 4) (1 - 1.2 / 2) = 0.72.
    assert found[0, 1, :4].tolist() == [4, 5, 6, 7]
    # Behind 0 and 3: 4 and 5 alike; 7 by 1 - (1 - 0.2 / 4) (1 - 1.2 / 2) = 0.62, 6 by 0.37.
    assert {*found[1, 1, :2].tolist()} == {4, 5}
    assert found[1, 1, 2:4].tolist() == [7, 6]
    # No expert of the other four was ever picked there.
    assert (found[:, 1, 4:] == -1).all()


def test_the_step_before_is_that_of_the_same_request(setting: Setting) -> None:
    found = previous_step(setting)
    # The first token of the held-out request has none: what is before it is another request's.
    assert (found[0] == -1).all()
    assert found[1, 0].tolist() == [0, 2, -1, -1, -1, -1]
    # The last one first, then what the one before had besides.
    assert found[2, 0].tolist() == [0, 3, 2, -1, -1, -1]
    assert found[3, 0].tolist() == [1, 2, 0, 3, -1, -1]
    assert found[3, 1].tolist() == [6, 7, 4, 5, -1, -1]


def test_a_request_s_own_counts(setting: Setting) -> None:
    found = request_frequency(setting)
    assert (found[0] == -1).all()
    # One pick each: 0 was picked more than 2 where it was learned.
    assert found[1, 0].tolist() == [0, 2, -1, -1, -1, -1]
    # 0 and 2 twice; of these, and of 1 and 3, 0 and 1 are picked more elsewhere.
    assert found[3, 0].tolist() == [0, 2, 1, 3, -1, -1]
    assert found[3, 1].tolist() == [4, 6, 5, 7, -1, -1]


def test_all_requests_counts(setting: Setting) -> None:
    found = global_frequency(setting)
    assert found[2].tolist() == [[0, 1, 2, 3, -1, -1], [4, 5, 6, 7, -1, -1]]


def test_a_cache_holds_what_was_picked_last_by_anyone(setting: Setting) -> None:
    found = cache_so_far(setting)
    # Of the token before, in no order of its own; then what is older.
    assert found[0, 0].tolist() == [1, 3, 0, 2, -1, -1]
    assert found[1, 0].tolist() == [0, 2, 1, 3, -1, -1]
    assert found[3, 1].tolist() == [6, 7, 4, 5, -1, -1]


def test_in_hindsight_a_cache_has_what_is_guessed_at(setting: Setting) -> None:
    found = cache_in_hindsight(setting)
    assert found[0, 0].tolist() == [0, 1, 2, 3, -1, -1]
    assert found[3, 1].tolist() == [4, 5, 6, 7, -1, -1]


def test_an_eam_names_what_the_likest_request_picked() -> None:
    # Two requests that are learned from: one of 0 to 3, one of 4 to 7.
    low, high = [[0, 1], [2, 3]], [[4, 5], [6, 7]]
    odd = [[4, 1], [6, 3]]
    found = asked(in_turn([low, low, high, high, high, odd], 8, 2), learn=0.6)
    ranks = eam(found)
    assert (ranks[0] == -1).all()
    assert ranks[1].tolist() == [[4, 5, -1, -1, -1, -1], [6, 7, -1, -1, -1, -1]]
    both = eam(asked(found.trace, learn=0.6, nearest=2))
    assert both[1].tolist() == [[0, 1, 4, 5, -1, -1], [2, 3, 6, 7, -1, -1]]


def test_an_eam_is_of_the_phase_that_is_guessed_at() -> None:
    """By its prompt the third request is like the first; by what it decoded, like the second."""
    low, high = [[0, 1], [2, 3]], [[4, 5], [6, 7]]
    ids = [low, low, high, high, low, high, high]
    phase = np.array([PREFILL, DECODE] * 2 + [PREFILL, DECODE, DECODE], np.uint8)
    request = np.array([0, 0, 1, 1, 2, 2, 2])
    found = requests.recorded(np.array(ids), 8, request=request, phase=phase)
    ranks = eam(asked(found, learn=0.5))
    assert (ranks[0] == -1).all()
    assert ranks[1, 0].tolist() == [4, 5, -1, -1, -1, -1]


def drafted(*, again: bool) -> Setting:
    """A request that is learned from, and one with a rejected draft at position 2."""
    ids = traffic.matched(5, 2, 8, 2)
    told = [
        (0, 0, 0, DECODE, 1),
        (1, 1, 0, PREFILL, 1),
        (2, 1, 1, VERIFY, 1),
        (2, 1, 2, VERIFY, 0),
        (3, 1, 2 if again else 3, DECODE, 1),
    ]
    forward, request, position, phase, accepted = np.array(told).T
    found = requests.recorded(
        ids,
        8,
        forward=forward,
        request=request,
        position=position,
        phase=phase.astype(np.uint8),
        accepted=accepted.astype(np.bool_),
    )
    return asked(found, learn=0.1)


def test_a_draft_tells_of_the_token_that_took_its_place() -> None:
    setting = drafted(again=True)
    assert setting.scored.tolist() == [2, 3, 4]
    found = draft(setting)
    assert (found[:2] == -1).all()
    assert found[2, :, :2].tolist() == setting.trace.ids[3].tolist()
    assert (found[2, :, 2:] == -1).all()
    # A draft that was rejected is no step before; nor do tokens of one forward know one another.
    steps = previous_step(setting)
    assert steps[0, :, :2].tolist() == steps[1, :, :2].tolist() == setting.trace.ids[1].tolist()
    assert steps[2, :, :2].tolist() == setting.trace.ids[2].tolist()


def test_where_nothing_was_drafted_that_is_said() -> None:
    with pytest.raises(CannotGuess, match="none in this trace"):
        draft(drafted(again=False))


def test_without_hidden_states_there_is_no_head(setting: Setting) -> None:
    with pytest.raises(CannotGuess, match="no hidden states"):
        head(setting)


def test_drawn_names_are_all_others(setting: Setting) -> None:
    found = at_random(setting)
    assert all(len({*names}) == 6 for names in found.reshape(-1, 6).tolist())
    assert np.array_equal(found, at_random(setting))


def test_the_control_is_given_the_picks(setting: Setting) -> None:
    assert truth(setting)[:, :, :2].tolist() == HELD
