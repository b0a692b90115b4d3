"""Our kernels within captured CUDA graphs, 1,000 replays each; the interpreter has none, and runs again."""

import pytest

from tests.engine.lane_python import INSIDE

SCRIPT = "graphs.py"
CHECKS = (
    "a_graph_copies_what_its_tensors_hold",
    "a_graph_follows_the_map_and_the_router",
    "a_graph_answers_alike_through_swaps",
    "a_graph_merges_what_two_calls_wrote",
)


@pytest.mark.parametrize("check", CHECKS)
def test_graphs(kernel_failures: dict[str, str | None], check: str) -> None:
    assert kernel_failures[check] is None


def test_every_check_is_told(kernel_failures: dict[str, str | None]) -> None:
    assert set(kernel_failures) == set(CHECKS), INSIDE / SCRIPT
