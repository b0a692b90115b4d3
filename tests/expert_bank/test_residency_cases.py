"""Faults that public expert-offload code has shipped: the tests that catch each, or why none yet."""

import ast
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Case:
    """A fault.

    Attributes:
        id: Its name.
        tests: Node ids of the tests that catch it.
        later: What of it no test here can show yet, and why.
    """

    id: str
    tests: tuple[str, ...]
    later: str = ""


def checks(idea: str, *names: str, file: str = "") -> tuple[str, ...]:
    """Give the node ids of checks that the lane's Python runs, in a file of another name if need be."""
    return tuple(f"tests/engine/test_{file or idea}.py::test_{idea}[{name}]" for name in names)


def within(path: str, *names: str) -> tuple[str, ...]:
    """Give the node ids of a file's tests."""
    return tuple(f"tests/{path}::{name}" for name in names)


CASES = (
    Case(
        "split sum",
        (
            *checks(
                "swapping",
                "the_first_forward_after_each_swap_is_the_resident_layers",
                "two_partial_sums_hang_on_the_map",
            ),
            *checks("split", "kernel_splits_as_python_does", "one_wrong_bank_shows"),
            *checks(
                "finalize",
                "two_calls_have_one_calls_bits_for_every_map",
                "two_partial_sums_differ",
            ),
            *checks(
                "grouped_gemm",
                "output_is_equal_for_every_map",
                "output_is_equal_through_swaps",
                "two_partial_sums_differ_where_slots_in_order_do_not",
            ),
        ),
    ),
    Case(
        "table before bytes",
        (
            *checks(
                "copy_faults",
                "a_copy_that_comes_too_late_is_caught",
                "a_table_switched_before_the_bytes_shows_in_the_first_forward",
            ),
            *checks("table", "an_entry_is_written_whole_in_one_copy"),
            *checks("staging", "copies_that_take_long_are_waited_for", file="staging_checks"),
        ),
    ),
    Case(
        "in-flight victim",
        (
            *checks(
                "barrier",
                "the_device_is_drained_before_the_first_byte_moves",
                "an_undrained_forward_would_read_another_row",
            ),
            *checks(
                "poison",
                "rows_are_poisoned_exactly_while_nobody_reads_them",
                "a_read_of_the_other_bank_shows",
                "a_read_of_a_row_that_was_left_shows",
            ),
        ),
    ),
    Case(
        "scales left behind",
        (
            *checks("copy_faults", "the_expert_stays_on_a_whole_row_and_is_named"),
            *checks(
                "audit", "one_moved_scale_row_is_named", "one_changed_bit_of_any_tensor_is_named"
            ),
        ),
    ),
    Case(
        "counters off",
        (
            *checks(
                "bank_counts",
                "picks_by_tier_are_those_of_a_trace",
                "what_nobody_scheduled_is_mapped_and_not_counted",
            ),
            *checks("late_split", "places_and_counts_are_the_ops"),
            *within("engine/test_counts.py", "test_picks_are_routed_tokens_times_k_times_layers"),
            *within(
                "engine/test_counts_banked.py", "test_picks_are_routed_tokens_times_k_times_layers"
            ),
            *within("engine/test_warm_up.py", "test_steps_of_a_warm_up_are_not_counted"),
            *within(
                "engine/test_speculative.py", "test_every_scheduled_pick_is_counted_drafts_too"
            ),
            *within("engine/test_refusals.py", "test_refusal_names_the_counter_and_the_cause"),
        ),
    ),
    Case(
        "counter overflow",
        (
            *checks(
                "bank_counts", "tiers_are_exact_across_a_wrap", "nothing_is_lost_when_nobody_reads"
            ),
            *checks("pick_count", "kernel_wraps_at_32_bits"),
        ),
    ),
    Case(
        "no-op flag",
        (
            *checks("swapping", "a_swap_tells_what_it_moved"),
            *checks("bank_counts", "picks_by_tier_are_those_of_a_trace"),
            *checks("filling", "a_banks_numbers_are_its_tensors"),
            *within("engine/test_staging.py", "test_bytes_are_those_of_the_arithmetic"),
            *within(
                "serve/test_staging.py",
                "test_it_is_proven_by_what_was_staged_and_what_was_not",
                "test_on_is_refused",
            ),
        ),
        later="that device bytes fall by the computed amount is measured where a device is",
    ),
    Case(
        "pinned rounding",
        (
            *checks("filling", "a_real_mapping_is_filled_to_its_last_byte"),
            *checks("host_pages", "a_filled_bank_has_the_bytes_of_its_rows"),
            *within(
                "expert_bank/test_smaps.py", "test_a_power_of_two_is_refused_with_the_arithmetic"
            ),
        ),
    ),
    Case(
        "big registration",
        within(
            "expert_bank/test_registration.py",
            "test_600_gib_are_registered_where_one_registration_fails",
        ),
    ),
    Case(
        "wrong node",
        (
            *within(
                "expert_bank/test_placement.py",
                "test_a_page_elsewhere_is_refused_with_the_arithmetic",
            ),
            *within("expert_bank/test_probe.py", "test_graces_other_node_is_refused"),
            *checks("filling", "unused_rows_are_written_to"),
        ),
    ),
    Case(
        "stale addresses",
        (
            *checks(
                "barrier",
                "addresses_stay_where_they_were",
                "a_moved_bank_is_refused_before_anything_moves",
            ),
            *checks("table", "addresses_never_change"),
        ),
        later="a graph that is replayed while bytes move needs a device",
    ),
    Case(
        "reload after swap",
        (
            *checks("audit", "a_reload_into_the_first_places_is_named"),
            *within(
                "engine/test_swaps_in_flight.py",
                "test_what_is_refused_in_the_midst_of_swaps_changes_no_answer",
            ),
        ),
        later="no weights are taken anew while there are two banks",
    ),
    Case(
        "swallowed copy error",
        (
            *checks(
                "copy_faults",
                "the_expert_stays_on_a_whole_row_and_is_named",
                "a_copy_to_anothers_row_is_named_with_the_other",
                "a_write_beyond_the_row_is_found",
            ),
            *checks("barrier", "totals_add_up"),
            *within("expert_bank/test_registration.py", "test_a_failure_leaves_nothing_registered"),
            *checks(
                "staging",
                "a_copy_that_copies_nothing_is_seen",
                "a_row_that_is_not_copied_is_seen_within_as_many_steps_as_there_are_rows",
                "a_copy_that_fails_or_says_less_is_told",
                file="staging_checks",
            ),
            *within(
                "expert_bank/staging/test_copies.py",
                "test_an_error_of_the_driver_is_raised_and_nothing_counted",
            ),
        ),
    ),
    Case(
        "thrash",
        (
            *within(
                "expert_bank/test_policy.py",
                "test_two_experts_around_the_threshold_do_not_alternate",
                "test_a_burst_is_bounded_and_the_boot_map_comes_back",
                "test_traffic_that_flips_costs_little_more_than_a_map_of_both",
                "test_the_guard_is_what_bounds_it",
                "test_an_expert_stays_where_it_was_put",
                "test_traffic_that_prefers_nothing_is_left_alone",
            ),
            *within(
                "expert_bank/test_guard.py",
                "test_saving_nothing_is_losing_and_so_are_swaps_that_cost_what_they_save",
            ),
            *within("residency/test_traffic.py", "test_a_tie_is_one_in_every_turn"),
        ),
    ),
    Case(
        "phase guessed",
        (
            *within(
                "expert_bank/staging/test_prompts.py",
                "test_a_prompt_in_chunks_until_all_of_it_is_computed",
                "test_several_tokens_of_a_step_are_no_prompt",
                "test_one_that_computes_its_prompt_makes_a_mixed_step_one",
                "test_a_preempted_one_computes_its_prompt_again",
            ),
            *checks("staging", "a_step_that_is_not_taken_reads_in_place", file="staging_checks"),
            *within(
                "engine/test_staging.py",
                "test_bytes_are_those_of_the_arithmetic",
                "test_nothing_is_staged_in_decode_nor_where_it_is_switched_off",
            ),
        ),
    ),
    Case(
        "sleep and wake",
        (
            *checks("barrier", "a_closed_barrier_refuses_and_moves_nothing"),
            *checks(
                "sleep",
                "all_is_as_before_whatever_the_layout",
                "without_any_of_it_all_hot_rows_and_entries_are_named",
                "what_is_asleep_is_not_touched",
                "a_staging_buffer_is_not_kept_and_is_staged_into_again",
            ),
            *checks(
                "sleep_faults",
                "a_mirrors_row_that_was_spoilt_meanwhile_is_named",
                "an_entry_that_is_not_the_hosts_is_named",
                "a_pool_or_a_bank_that_is_elsewhere_is_told",
            ),
            *checks(
                "sleeping_worker",
                "either_level_leaves_all_as_it_was",
                "what_cannot_sleep_is_refused_with_nothing_lost",
            ),
            *within(
                "engine/test_swaps_in_flight.py", "test_asleep_it_is_refused_and_awake_again_right"
            ),
        ),
        later="an engine that sleeps needs a device; its test is there and has not run",
    ),
    Case(
        "load peak",
        (
            *within(
                "expert_bank/test_plan.py",
                "test_the_lanes_peaks",
                "test_the_peak_is_the_largest_layers",
            ),
            *within(
                "engine/test_load_peak.py",
                "test_one_layer_is_raw_and_one_repacked",
                "test_a_layer_that_is_kept_shows",
                "test_unpatched_vllm_has_every_layer_raw",
            ),
            *within(
                "engine/test_load_rss.py",
                "test_the_peak_is_the_banks_a_layer_raw_and_one_repacked",
            ),
        ),
        later="a load within a capped share of a device's memory needs a device",
    ),
    Case(
        "short parity",
        (
            *within(
                "serve/equality/test_prompts.py",
                "test_there_are_enough_prompts_and_no_two_are_one",
                "test_an_answer_has_64_tokens_and_all_together_at_least_200",
            ),
            *within(
                "serve/equality/test_compare.py", "test_another_token_is_told_with_place_and_gap"
            ),
            *within(
                "serve/equality/test_verdict.py", "test_a_control_that_fails_outweighs_the_arms"
            ),
        ),
    ),
    Case(
        "planner OOM",
        (
            *within(
                "expert_bank/test_fits.py",
                "test_the_lanes_plan_in_words",
                "test_all_experts_resident_do_not_fit_the_lanes_device",
                "test_terms_add_up_and_a_hint_that_is_followed_fits",
            ),
            *within("expert_bank/test_host_budget.py", "test_the_tightest_place_decides"),
            *within("expert_bank/staging/test_lines.py", "test_size_and_price"),
            *within(
                "commands/test_residency_plan.py",
                "test_exclusive_banks_and_a_buffer_are_in_the_sums",
            ),
            *within(
                "engine/test_planning.py",
                "test_other_weights_are_the_loaded_models",
                "test_tokens_are_those_of_the_cache_that_vllm_allocates",
            ),
        ),
    ),
    Case(
        "hit rate alone",
        (
            *within("expert_bank/test_plan.py", "test_the_null_of_the_lanes_hit_rate"),
            *within(
                "residency/test_maps.py",
                "test_the_null_is_what_uniform_traffic_gets_of_any_map",
                "test_no_map_of_as_many_rows_is_better_than_the_oracle",
                "test_regret_is_what_another_map_would_have_saved",
            ),
            *within(
                "residency/test_on_demand.py",
                "test_none_is_better_than_belady",
                "test_what_was_picked_longest_ago_goes",
                "test_order_on_traffic_with_favourites",
            ),
            *within(
                "residency/test_replay.py",
                "test_a_map_that_moves_gets_near_the_oracle_after_a_switch",
            ),
        ),
    ),
)


def collected(path: Path) -> set[str]:
    """Name a file's tests, and those of each of its ``CHECKS``, without importing it."""
    tree = ast.parse(path.read_text())
    tests = {
        each.name
        for each in tree.body
        if isinstance(each, ast.FunctionDef) and each.name.startswith("test_")
    }
    checks: list[str] = []
    for each in tree.body:
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "CHECKS":
            checks = ast.literal_eval(each.value)
    by_check = {
        each.name
        for each in tree.body
        if isinstance(each, ast.FunctionDef)
        and any("parametrize('check', CHECKS)" in ast.unparse(d) for d in each.decorator_list)
    }
    return tests | {f"{test}[{check}]" for test in by_check for check in checks}


def missing(case: Case) -> list[str]:
    """List the tests that a case names and that are not there."""
    found = []
    for node in case.tests:
        path, _, test = node.partition("::")
        file = ROOT / path
        if not file.is_file() or test not in collected(file):
            found.append(node)
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_case_is_caught_or_told(case: Case) -> None:
    assert missing(case) == []
    assert case.tests or case.later


def test_what_is_left_for_later_names_no_module_that_is_there() -> None:
    """A policy, LRU or a replay, say, are not for later once they have a module."""
    made = {
        (each.parent if each.stem == "__init__" else each).stem.lower()
        for folder in ("overlay/expert_bank", "tools/lanewright/residency")
        for each in (ROOT / folder).rglob("*.py")
    }
    for case in CASES:
        named = {word.strip(".,;:").lower() for word in case.later.split()}
        assert not named & made, case.id


def test_every_case_is_there_once() -> None:
    assert len({case.id for case in CASES}) == len(CASES) == 20


@pytest.mark.parametrize(
    "node",
    [
        "tests/engine/test_swapping.py::test_swapping[no_such_check]",
        "tests/engine/test_swapping.py::test_no_such",
        "tests/engine/test_no_such.py::test_swapping",
        "tests/engine/test_swapping.py::pytestmark",
        "tests/engine/test_swapping.py",
    ],
)
def test_a_test_that_is_not_there_is_missed(node: str) -> None:
    assert missing(Case("planted", (node,))) == [node]
