"""Host memory as torch sees it, by the torch that a lane runs on."""

import json
from collections.abc import Callable

import pytest

from tests.engine.lane_python import INSIDE, Laid

pytestmark = pytest.mark.engine

CHECKS = (
    "a_tensor_is_the_mapping",
    "tensors_keep_the_mapping",
    "a_tensor_outlives_the_object",
    "several_tensors_share_a_mapping",
    "no_row_is_a_tensor_of_none",
    "what_is_not_within_is_refused",
    "a_filled_bank_has_the_bytes_of_its_rows",
)


@pytest.fixture(scope="module")
def failures(
    laid: Callable[[str], Laid], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str | None]:
    """By check, why it failed."""
    folder = tmp_path_factory.mktemp("host_pages")
    result = folder / "result.json"
    laid("0.32.0").run("host_pages.py", str(result), folder=folder)
    found: dict[str, str | None] = json.loads(result.read_text())
    return found


@pytest.mark.parametrize("check", CHECKS)
def test_host_pages(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / "host_pages.py"
