"""Our kernels within captured CUDA graphs."""

import pytest

from tests.engine.kernels import on_gpu
from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.gpu

SCRIPT = "graphs.py"
CHECKS = (
    "a_graph_copies_what_its_tensors_hold",
    "a_graph_follows_the_map_and_the_router",
    "a_graph_merges_what_two_calls_wrote",
)


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    """By check, why it failed."""
    return on_gpu(SCRIPT, tmp_path_factory.mktemp("graphs"))


@pytest.mark.parametrize("check", CHECKS)
def test_graphs(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
