"""A check that could not be made is skipped with its reason; it never passes."""

import pytest

from tests.engine.skipping import passes


def test_a_reason_is_told() -> None:
    with pytest.raises(pytest.skip.Exception, match="no such op"):
        passes("skipped: no such op")


def test_a_failure_stays_one() -> None:
    passes(None)
    with pytest.raises(AssertionError):
        passes("Traceback: skipped: no such op")
