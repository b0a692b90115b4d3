"""A load into two banks under a capped share of a GPU's memory."""

import pytest

from tests.engine.kernels import on_gpu
from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.gpu

SCRIPT = "cuda_load_peak.py"
CHECKS = (
    "banks_are_filled_a_layer_at_a_time_where_all_rows_do_not_fit",
    "all_rows_do_not_fit_under_the_cap",
)


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    """By check, why it failed."""
    return on_gpu(SCRIPT, tmp_path_factory.mktemp("cuda_load_peak"))


@pytest.mark.parametrize("check", CHECKS)
def test_cuda_load_peak(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
