"""What Triton compiles of our kernels for GPUs that need not be here."""

from collections.abc import Callable

import pytest

from tests.engine.kernels import by_lane
from tests.engine.lane_python import INSIDE, Laid

pytestmark = pytest.mark.engine

SCRIPT = "compiled_kernels.py"
CHECKS = (
    "counting_and_splitting_compile",
    "row_copies_move_whole_vectors",
    "gemms_compile_with_every_tile",
    "finalize_rounds_each_product_and_sum",
)


@pytest.fixture(scope="module")
def failures(
    laid: Callable[[str], Laid], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str | None]:
    """By check, why it failed; compiled anew, for a cache would hide what no longer compiles."""
    folder = tmp_path_factory.mktemp("compiled_kernels")
    return by_lane(SCRIPT, laid, folder, environ={"TRITON_CACHE_DIR": str(folder / "triton")})


@pytest.mark.parametrize("check", CHECKS)
def test_compiled_kernels(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
