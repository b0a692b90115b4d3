"""The staging buffer's memory on a CPU: one for all layers, exact, and given back."""

import pytest

from tests.engine.lane_python import INSIDE
from tests.engine.skipping import passes

pytestmark = pytest.mark.engine

SCRIPT = "stage_pool.py"
CHECKS = (
    "the_buffer_is_the_same_memory_behind_every_layer",
    "it_is_in_memory_from_the_start_and_of_the_size_of_the_arithmetic",
    "one_that_is_larger_than_its_rows_is_refused",
    "its_node_is_proven_as_the_banks_is",
    "the_kernel_here_tells_its_node",
    "it_is_given_back_with_the_last_layer",
    "a_forked_child_does_not_get_it",
    "what_the_system_does_not_give_and_other_shapes_are_refused",
)


@pytest.mark.parametrize("check", CHECKS)
def test_the_buffer(failures: dict[str, str | None], check: str) -> None:
    passes(failures[check])


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
