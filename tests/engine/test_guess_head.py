"""The head that guesses picks before attention, fitted by the lane's torch."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from lanewright.places import Places
from lanewright.residency.guess.guessers import scoreboard
from lanewright.residency.guess.head import Fitting
from lanewright.residency.guess.score import Score
from lanewright.residency.guess.setting import Setting
from lanewright.residency.trace_file.recorded import Recorded
from lanewright.serve.base import ensure_base
from tests.residency import requests, traffic
from tests.residency.guess.asked import asked

pytestmark = pytest.mark.engine

ROOT = Path(__file__).parents[2]
TOKENS, EACH, LAYERS, SIZE, EXPERTS, PICKS = 8000, 20, 2, 24, 16, 2


@cache
def routed() -> Recorded:
    """What a router picks that is linear in the state: of each layer another one."""
    states = (traffic.drawn((21,), (TOKENS, LAYERS, SIZE)) - 0.5).astype(np.float16)
    routers = traffic.drawn((22,), (LAYERS, SIZE, EXPERTS)) - 0.5
    logits = np.einsum("tlh,lhe->tle", states.astype(np.float64), routers)
    number = np.arange(TOKENS)
    return requests.recorded(
        np.argsort(-logits, axis=2, kind="stable")[:, :, :PICKS],
        EXPERTS,
        request=number // EACH,
        position=number % EACH,
        hidden=states,
    )


@pytest.fixture
def fitting(tmp_path: Path) -> Fitting:
    """The Python that the CPU lanes share."""
    places = Places.of_user()
    python = ensure_base(places, ROOT / "environments" / "cpu.txt")
    return Fitting(python, Places(places.store, tmp_path / "state"))


def scored(setting: Setting) -> Score:
    (found,) = scoreboard(setting, ["head"])
    assert found.score is not None, found.missing
    return found.score


def test_it_learns_a_linear_router(fitting: Fitting) -> None:
    found = scored(asked(routed(), hot=4, learn=0.5, head=fitting))
    assert found.guessed == 1.0
    assert found.recall > 0.95
    assert found.wide[1].recall > 0.99
    # What is not resident is found as well as what is.
    assert found.wide[0].cold_recall
    assert found.wide[0].cold_recall > 0.9
    assert list(fitting.places.state.iterdir()) == []


def test_states_that_say_nothing_make_it_no_better_than_frequency(fitting: Fitting) -> None:
    """The states of other tokens: what is left to learn is how often each expert is picked."""
    order = traffic.drawn((23,), (TOKENS,)).argsort()
    hidden = routed().hidden
    assert hidden is not None
    mixed = asked(replace(routed(), hidden=hidden[order]), learn=0.5, head=fitting)
    (often,) = scoreboard(mixed, ["global"])
    assert often.score is not None
    error = often.score.wide[0].error
    assert error
    assert abs(scored(mixed).recall - often.score.recall) < 0.03


def test_the_same_seed_fits_the_same_head(fitting: Fitting) -> None:
    few = requests.recorded(
        routed().ids[:800],
        EXPERTS,
        request=routed().request[:800],
        position=routed().position[:800],
    )
    hidden = routed().hidden
    assert hidden is not None
    setting = asked(replace(few, hidden=hidden[:800]), learn=0.5, head=fitting)
    one, again = fitting(setting), fitting(setting)
    assert np.array_equal(one, again)
    assert not np.array_equal(one, fitting(replace(setting, seed=5)))
