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
