"""How much room the staging buffer has: what can be asked for, and when nothing is staged."""

import pytest

from expert_bank.refused import Refused
from expert_bank.staging.room import StageRoom, stage_room

ROW = 1000


def room(spec: str, *cold: int, sizes: tuple[int, ...] = ()) -> StageRoom:
    return stage_room(spec, cold=cold, row_bytes=sizes or (ROW,) * len(cold))


@pytest.mark.parametrize(
    ("spec", "cold", "rows"),
    [
        ("1", (4, 4, 4), 4),
        ("2", (4, 4, 4), 8),
        ("1", (4, 7, 2), 7),
        ("2", (4, 7, 2), 11),
        # The layer between has no cold rows, and comes between no copies.
        ("2", (4, 0, 9), 13),
        ("2", (5,), 5),
        ("1", (0, 5, 0), 5),
    ],
)
def test_layers(spec: str, cold: tuple[int, ...], rows: int) -> None:
    found = room(spec, *cold)
    assert (found.rows, found.bytes, found.off) == (rows, rows * ROW, "")


def test_a_size_is_rounded_down_to_rows_and_more_than_is_ever_used_is_not_taken() -> None:
    # 4 KiB has room for 4 rows of 1,000 bytes.
    assert room("4KiB", 4, 4).rows == 4
    assert room("7KiB", 4, 4).bytes == 7 * ROW
    assert room("1GiB", 4, 4, 4).rows == 8
    assert room("4KiB", 4, 4).whole == 8 * ROW


def test_a_buffer_smaller_than_a_layer_turns_it_off_and_says_so() -> None:
    found = room("3KiB", 2, 4)
    assert found.bytes == 0
    assert found.off == (
        "a layer has 4 cold rows (3.91 KiB), and moe_prefill_stage '3KiB' has room for 3"
    )


def test_nothing_cold_and_rows_of_several_sizes_turn_it_off() -> None:
    assert room("2", 0, 0).off == "no layer has cold experts"
    assert room("2", 4, 4, sizes=(10, 20)).off == "rows of 10 B and of 20 B do not share a buffer"
    assert room("2", 4, 0, sizes=(10, 20)).off == ""


@pytest.mark.parametrize("spec", ["", "0", "3", "-1", "two", "1.5", "4 GB", "GiB", "²", "1e3"])
def test_what_cannot_be_read_is_refused(spec: str) -> None:
    with pytest.raises(Refused) as caught:
        room(spec, 4, 4)
    assert repr(spec) in caught.value.message
    assert "12GiB" in (caught.value.hint or "")
