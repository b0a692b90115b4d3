"""What else takes host memory than banks."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "host_terms.py"
CHECKS = (
    "files_that_are_read_whole_count_as_often_as_the_loader_has_them",
    "a_name_is_looked_up_in_the_hubs_cache",
    "tables_that_stay_on_the_host_are_counted_once",
    "what_the_pinned_allocator_took_counts_in_place_of_what_was_asked_for",
    "vllms_engram_counts_beside_what_is_pinned",
)


@pytest.mark.parametrize("check", CHECKS)
def test_host_terms(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
