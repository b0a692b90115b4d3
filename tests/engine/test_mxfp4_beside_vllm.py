"""The MXFP4 experts that torch stands in with, held against vLLM's where its build has them."""

import pytest

from tests.engine.skipping import passes

pytestmark = pytest.mark.engine

SCRIPT = "mxfp4_beside_vllm.py"
CHECKS = (
    "answers_agree",
    "every_usual_scale_agrees",
    "one_clamp_without_the_other_is_none",
    "a_row_that_is_not_there_is_refused",
    "what_is_there_is_not_replaced",
)


@pytest.mark.parametrize("check", CHECKS)
def test_mxfp4_beside_vllm(failures: dict[str, str | None], check: str) -> None:
    passes(failures[check])


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS)
