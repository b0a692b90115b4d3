"""One drawn switch of traffic for all tests, and what is made of it."""

import pytest

from benchmarks.switch_outcome import Outcome, Served, outcome
from tests.benchmarks.drawn_switch import drawn


@pytest.fixture(scope="session")
def served() -> Served:
    """Three phases, as an engine would have served them."""
    return drawn()


@pytest.fixture(scope="session")
def found(served: Served) -> Outcome:
    """What every policy makes of it."""
    return outcome(served)
