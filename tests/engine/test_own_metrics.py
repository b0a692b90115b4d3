"""``/metrics`` of a server shows its own worker's numbers, and no other server's."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "own_metrics.py"
CHECKS = ("in_a_folder_each_server_shows_its_own", "of_one_file_no_server_shows_anothers")


@pytest.mark.parametrize("check", CHECKS)
def test_metrics(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
