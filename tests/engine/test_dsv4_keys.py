"""DeepSeek-V4's compressed keys and their choice, as torch stands in with them."""

import pytest

pytestmark = pytest.mark.engine

SCRIPT = "dsv4_keys.py"
CHECKS = (
    "windows_are_pooled_channel_by_channel",
    "the_indexer_scores_what_it_stored",
    "the_best_512_keys_are_chosen",
)


@pytest.mark.parametrize("check", CHECKS)
def test_dsv4_keys(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS)
