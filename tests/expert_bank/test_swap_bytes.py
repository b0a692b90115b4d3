"""What one swap copies, and how bytes that take none are refused."""

import pytest

from expert_bank.plan import Mode
from expert_bank.refused import Refused
from expert_bank.swap_bytes import require_swap, rows_per_swap


@pytest.mark.parametrize(
    ("mode", "least", "copied"),
    [("mirror", 300, "a row"), ("file", 300, "a row"), ("exclusive", 600, "two rows")],
)
def test_bytes_below_the_smallest_swap_are_refused_with_its_size(
    mode: Mode, least: int, copied: str
) -> None:
    rows = [500, 300, 400]
    assert rows_per_swap(mode) * 300 == least
    for enough in (None, least, float("inf")):
        require_swap(enough, rows, mode)
    with pytest.raises(Refused) as caught:
        require_swap(least - 1, rows, mode)
    assert str(caught.value) == (
        f"moe_follow: {least - 1} bytes a barrier take no swap: with moe_cold_rows {mode} one copies"
        f" {copied}, {least} bytes\ngive at least {least}, or leave bytes out for no bound"
    )
