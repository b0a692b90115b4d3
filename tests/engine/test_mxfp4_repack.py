"""The repack of FlashInfer's TRT-LLM MXFP4 experts, held to a part of a layer at a time."""

import pytest

pytestmark = pytest.mark.engine

SCRIPT = "mxfp4_repack.py"
CHECKS = (
    "every_part_is_as_of_the_whole",
    "no_more_than_a_layer_raw_and_one_repacked_is_alive",
    "a_call_that_fails_leaves_vllms_own",
    "only_its_own_kernels_rows_are_repacked_in_parts",
    "what_is_no_row_of_each_expert_is_refused",
)


@pytest.mark.parametrize("check", CHECKS)
def test_mxfp4_repack(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS)
