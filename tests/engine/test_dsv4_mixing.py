"""DeepSeek-V4's streams and routing, as torch stands in with them where vLLM's build has none."""

import pytest

pytestmark = pytest.mark.engine

SCRIPT = "dsv4_mixing.py"
CHECKS = (
    "every_op_is_stood_in_for",
    "streams_are_mixed_as_vllm_does_in_torch",
    "experts_are_chosen_and_weighed",
    "packed_products_are_products",
)


@pytest.mark.parametrize("check", CHECKS)
def test_dsv4_mixing(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS)
