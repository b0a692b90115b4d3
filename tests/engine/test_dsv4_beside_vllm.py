"""DeepSeek-V4's ops that torch stands in with, held against vLLM's where its build has them."""

import pytest

from tests.engine.skipping import passes

pytestmark = pytest.mark.engine

SCRIPT = "dsv4_beside_vllm.py"
CHECKS = (
    "queries_and_keys_agree",
    "numbers_below_the_least_normal_are_written",
    "every_number_is_read",
    "attention_agrees",
    "turning_back_agrees",
    "compressors_agree",
    "the_indexers_queries_agree",
    "the_indexers_scores_agree",
    "the_same_keys_are_chosen",
    "streams_agree",
    "products_agree",
    "experts_agree",
    "equal_experts_weigh_the_same",
    "experts_of_the_tokens_agree",
    "what_chooses_by_softmax_is_refused",
    "what_is_there_is_not_replaced",
)


@pytest.mark.parametrize("check", CHECKS)
def test_dsv4_beside_vllm(failures: dict[str, str | None], check: str) -> None:
    passes(failures[check])


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS)
