"""A worker's sleep with two banks, by vLLM's own worker and allocator of each release."""

from collections.abc import Callable

import pytest

from tests.engine.lane_python import INSIDE, Laid

SCRIPT = "sleeping_worker.py"
CHECKS = (
    "either_level_leaves_all_as_it_was",
    "a_mirrors_weights_are_not_backed_up_by_vllm_too",
    "what_cannot_sleep_is_refused_with_nothing_lost",
    "sleep_mode_is_taken_on_cuda_by_cumem_alone",
    "a_sleep_within_a_sleep_lets_go_what_is_awake",
    "what_is_asked_meanwhile_goes_on_or_is_refused",
    "weights_are_not_discarded_by_their_tag",
    "a_sleep_that_vllm_ends_with_an_error_is_undone",
    "a_sleep_that_can_neither_be_ended_nor_undone_stays_closed",
    "a_waking_that_finds_no_memory_can_be_tried_again",
    "a_spoilt_mirror_is_named_and_nothing_is_served",
    "host_memory_without_room_refuses_before_anything_is_let_go",
    "an_engine_without_banks_sleeps_as_vllms_does",
)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("0.30.0", marks=pytest.mark.engine),
        pytest.param("0.31.0", marks=pytest.mark.engine_full),
        pytest.param("0.32.0", marks=pytest.mark.engine),
    ],
)
def failures(
    request: pytest.FixtureRequest,
    laid: Callable[[str], Laid],
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, str | None]:
    """By check, why it failed."""
    return laid(request.param).failures(SCRIPT, folder=tmp_path_factory.mktemp("sleeping"))


@pytest.mark.parametrize("check", CHECKS)
def test_sleeping_worker(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
