"""The MXFP4 experts that torch stands in with where vLLM's build has none."""

import pytest

pytestmark = pytest.mark.engine

SCRIPT = "mxfp4_in_torch.py"
CHECKS = (
    "every_byte_and_every_scale_is_what_the_format_says",
    "answers_are_the_references",
    "the_kinds_differ",
    "where_rows_lie_does_not_matter",
    "the_rest_of_the_batch_does_not_matter",
    "a_row_that_is_not_there_is_refused",
    "rows_are_copied_as_they_are",
    "what_is_not_mxfp4_is_refused",
    "it_is_traced_without_being_run",
)


@pytest.mark.parametrize("check", CHECKS)
def test_mxfp4_in_torch(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS)
