"""What one swap copies, and how bytes that take none are refused."""

import pytest

from expert_bank.plan import Mode
from expert_bank.refused import Refused
from expert_bank.swap_bytes import require_swap, rows_per_swap


@pytest.mark.parametrize(
    ("mode", "needed", "copied"),
    [("mirror", 500, "a row"), ("file", 500, "a row"), ("exclusive", 1000, "two rows")],
)
def test_bytes_below_the_largest_swap_are_refused_with_its_size_and_layer(
    mode: Mode, needed: int, copied: str
) -> None:
    rows = {"layers.0": 300, "layers.1": 500, "layers.2": 400}
    assert rows_per_swap(mode) * 500 == needed
    for enough in (None, needed, float("inf")):
        require_swap(enough, rows, mode)
    with pytest.raises(Refused) as caught:
        require_swap(needed - 1, rows, mode)
    assert str(caught.value) == (
        f"moe_follow: {needed - 1} bytes a barrier take no swap of layers.1: with moe_cold_rows {mode}"
        f" one copies {copied}, {needed} bytes\ngive at least {needed}, leave bytes out for no bound,"
        " or end following: no moe_follow, or expert_bank_follow null"
    )


def test_where_nothing_is_to_be_swapped_no_bytes_are_too_few() -> None:
    require_swap(0, {}, "mirror")
