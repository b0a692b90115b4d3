"""The CUDA side's glue in the CPU's memory: allocations, load, binding, row pointers, self-check,
staging.

The kernels run under Triton's interpreter; what CUDA's own calls would answer is told.
"""

from collections.abc import Callable

import pytest

from tests.engine.kernels import by_lane
from tests.engine.lane_python import INSIDE, Laid

pytestmark = pytest.mark.engine

SCRIPT = "cuda_glue.py"
CHECKS = (
    "every_swap_leaves_the_resident_layers_bits",
    "a_layers_output_is_close_to_float64",
    "addresses_that_were_not_refreshed_show",
    "layers_that_rows_cannot_be_pointed_to_are_told_why",
    "hot_rows_are_the_devices_and_cold_ones_one_mapping",
    "views_are_of_the_same_pages",
    "each_layer_has_a_mapping_that_stays",
    "no_cold_row_is_nothing_to_register",
    "a_registration_that_is_not_permitted_names_the_containers_flags",
    "only_a_cpu_has_cold_rows_in_a_file",
    "a_layer_of_each_pair_of_sizes_is_asked_over_every_number",
    "layers_of_which_no_expert_is_hot_yet_are_asked_too",
    "a_kernel_that_is_tuned_apart_is_refused",
    "numbers_of_tokens_are_those_that_kernels_are_tuned_for",
    "staged_steps_have_the_resident_layers_bits_through_swaps",
    "staged_rows_are_read_and_no_others",
    "a_buffer_is_the_devices_and_one_for_all_layers",
    "the_self_check_asks_over_staged_rows_too",
    "a_step_of_a_captured_size_is_told_as_one",
    "copies_come_behind_the_forward_and_before_its_readers",
    "what_nobody_waits_for_may_still_be_under_way",
    "copies_come_in_the_order_in_which_they_were_begun",
    "small_and_large_ranges_are_copied_to_the_last_byte",
    "nothing_is_copied_while_a_graph_is_captured",
    "a_cuda_devices_rows_come_on_a_stream_of_its_own",
    "a_cpus_rows_come_by_a_thread",
    "a_plan_has_the_buffer_the_tables_and_the_loaders_files",
    "the_block_that_was_decided_sets_the_threshold",
    "a_block_is_that_of_the_kernel_that_runs",
    "rows_of_a_file_are_not_staged",
    "rows_that_were_copied_are_not_told",
    "a_row_that_is_not_copied_is_noted_and_told_by_the_audit",
    "the_host_is_seen_to_wait_where_it_does",
)


@pytest.fixture(scope="module")
def failures(
    laid: Callable[[str], Laid], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str | None]:
    """By check, why it failed."""
    folder = tmp_path_factory.mktemp("cuda_glue")
    return by_lane(SCRIPT, laid, folder, environ={"TRITON_INTERPRET": "1"})


@pytest.mark.parametrize("check", CHECKS)
def test_cuda_glue(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
