"""DeepSeek-V4's attention, as torch stands in with it where vLLM's build has none."""

import pytest

pytestmark = pytest.mark.engine

SCRIPT = "dsv4_attention.py"
CHECKS = (
    "rotations_are_complex_products",
    "tokens_lie_where_the_port_reads_them",
    "queries_are_normalised_and_keys_stored",
    "attention_is_a_softmax_with_a_sink",
)


@pytest.mark.parametrize("check", CHECKS)
def test_dsv4_attention(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS)
