"""The counting op and its kernels, by the torch and Triton that a lane runs on."""

import json
from collections.abc import Callable

import pytest

from tests.engine.lane_python import INSIDE, Laid

pytestmark = pytest.mark.engine

CHECKS = (
    "reference_counts_as_python_does",
    "kernel_counts_as_the_reference",
    "kernel_wraps_at_32_bits",
    "kernel_leaves_out_ids_that_are_no_expert",
    "reference_refuses_ids_that_are_no_expert",
    "op_keeps_torchs_contract",
    "registering_again_changes_nothing",
    "compiled_code_keeps_the_op",
)


@pytest.fixture(scope="module")
def failures(
    laid: Callable[[str], Laid], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str | None]:
    """By check, why it failed; Triton's interpreter stands in for a GPU."""
    folder = tmp_path_factory.mktemp("pick_count")
    result = folder / "result.json"
    laid("0.32.0").run(
        "pick_count.py", str(result), folder=folder, environ={"TRITON_INTERPRET": "1"}
    )
    found: dict[str, str | None] = json.loads(result.read_text())
    return found


@pytest.mark.parametrize("check", CHECKS)
def test_pick_count(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / "pick_count.py"
