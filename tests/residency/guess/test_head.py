"""The trained head, as far as no torch is needed; ``tests/engine/test_guess_head.py`` fits some."""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from lanewright.places import Places
from lanewright.residency.guess.guessers import scoreboard
from lanewright.residency.guess.head import Fitting, NoFitting, apart
from lanewright.serve.child import BootError
from tests.residency import requests
from tests.residency.guess.asked import asked, in_turn, several

HIDDEN = requests.with_hidden(several(), 4)


def test_what_says_when_to_stop_is_of_requests_that_are_not_fitted_on() -> None:
    setting = asked(several(80, 5), learn=0.5)
    fitted, checked = apart(setting)
    request = setting.trace.request
    assert len({*request[checked]}) == 4
    assert not {*request[fitted]} & {*request[checked]}
    assert sorted([*fitted, *checked]) == np.flatnonzero(setting.learned).tolist()


def test_of_one_request_nothing_is_kept_aside() -> None:
    fitted, checked = apart(asked(in_turn(HIDDEN.ids, 16, 240), learn=0.5))
    assert (len(fitted), len(checked)) == (240, 0)


@pytest.mark.skipif(find_spec("torch") is not None, reason="this Python has torch")
def test_a_python_without_torch_is_a_row_that_says_so(places: Places) -> None:
    setting = asked(HIDDEN, head=Fitting(Path(sys.executable), places))
    (found,) = scoreboard(setting, ["head"])
    assert found.score is None
    assert found.missing == f"{sys.executable} has no torch"
    assert list(places.state.iterdir()) == []


def test_a_fit_that_dies_is_told_and_what_it_had_stays(places: Places) -> None:
    setting = asked(HIDDEN, head=Fitting(Path("/bin/false"), places))
    with pytest.raises(BootError, match="head"):
        list(scoreboard(setting, ["head"]))
    (left,) = places.state.iterdir()
    assert {file.name for file in left.iterdir()} >= {"hidden.npy", "spec.json", "head.log"}


def test_where_there_is_no_lane_the_reason_is_told() -> None:
    (found,) = scoreboard(asked(HIDDEN, head=NoFitting("no lane")), ["head"])
    assert (found.score, found.missing) == (None, "no lane")
