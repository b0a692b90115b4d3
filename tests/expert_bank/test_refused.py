<<<<<<< HEAD
"""The error with which the two-bank says no, as a log and another process show it."""

import pickle

import pytest

from expert_bank.refused import Refused


@pytest.mark.parametrize(("hint", "shown"), [("", "too big"), ("take less", "too big\ntake less")])
def test_the_hint_stands_on_a_line_of_its_own(hint: str, shown: str) -> None:
    error = Refused("too big", hint=hint)
    assert str(error) == shown
    assert error.hint == hint


def test_it_comes_whole_out_of_a_worker_process() -> None:
    error = pickle.loads(pickle.dumps(Refused("too big", hint="take less")))  # noqa: S301 - our own
    assert isinstance(error, Refused)
    assert str(error) == "too big\ntake less"
=======
import pickle

from expert_bank.refused import Refused


def test_a_refusal_says_its_message_and_hint() -> None:
    assert (
        str(Refused("8 GiB are too much", hint="ask for less"))
        == "8 GiB are too much\nask for less"
    )
    assert str(Refused("8 GiB are too much")) == "8 GiB are too much"


def test_a_refusal_crosses_processes() -> None:
    found = pickle.loads(pickle.dumps(Refused("8 GiB are too much", hint="ask for less")))  # noqa: S301 - just made
    assert (found.message, found.hint) == ("8 GiB are too much", "ask for less")
    assert str(found) == "8 GiB are too much\nask for less"
>>>>>>> 81bac4f (Tests of the host bank's memory, on this machine and on a Grace machine's texts)
