"""Host memory for a sleep, told before any of it is taken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.host_budget import HostBudget
from expert_bank.refused import Refused
from expert_bank.sleep_room import pinned_bytes, require_room

GIB = 2**30


def left(size: int) -> HostBudget:
    return HostBudget((("the machine", (("MemAvailable", size),)),))


def test_what_fits_to_the_byte_is_let_go_on_and_one_more_is_refused() -> None:
    require_room(3 * GIB, GIB, left(4 * GIB), hint="free some")
    with pytest.raises(Refused) as refused:
        require_room(3 * GIB, GIB + 1, left(4 * GIB), hint="free some")
    assert refused.value.message == (
        "sleep: 4.00 GiB of host memory are needed (3.00 GiB of weights that are no mirrored rows,"
        " 1.00 GiB that vLLM backs up), and 4.00 GiB are left; nothing was discarded\n"
        "the machine: 4.00 GiB MemAvailable = 4.00 GiB"
    )
    assert refused.value.hint == "free some"


def test_a_group_over_its_limit_has_none_left() -> None:
    with pytest.raises(Refused, match="and 0 B are left"):
        require_room(1, 0, left(-5), hint="")


@given(st.lists(st.integers(0, 2**40), max_size=5))
def test_pinned_blocks_are_powers_of_two_and_less_than_twice_the_bytes(sizes: list[int]) -> None:
    found = pinned_bytes(sizes)
    assert sum(sizes) <= found <= 2 * sum(sizes)
    assert found == sum(pinned_bytes([each]) for each in sizes)
    assert all(pinned_bytes([each]).bit_count() == 1 for each in sizes if each)
