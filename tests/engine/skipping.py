"""What a check of ``inside/`` said: nothing, why it failed, or why it could not be made here."""

import pytest

# As ``inside/checks.py`` writes it.
SKIPPED = "skipped: "


def passes(told: str | None) -> None:
    """Fail, or skip with the reason, unless a check passed."""
    if told is not None and told.startswith(SKIPPED):
        pytest.skip(told.removeprefix(SKIPPED))
    assert told is None
