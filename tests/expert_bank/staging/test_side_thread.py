"""Copies beside the engine: in order, told by their bytes, and no error swallowed."""

import threading

import numpy as np
import pytest

from expert_bank.staging.copies import Copies
from expert_bank.staging.side_thread import SideThread


def row(to: int, source: int = 1, size: int = 1) -> Copies:
    return Copies(*(np.array([each], np.int64) for each in (to, source, size)))


def test_they_are_made_in_order_by_another_thread() -> None:
    made, gate = [], threading.Event()

    def copy(copies: Copies) -> int:
        gate.wait(10)
        made.append((int(copies.to[0]), threading.get_ident()))
        return copies.bytes

    side = SideThread(copy)
    pending = [side.begin(row(to, size=to)) for to in range(1, 6)]
    assert made == []
    gate.set()
    assert [each.wait() for each in pending] == [1, 2, 3, 4, 5]
    assert [to for to, _ in made] == [1, 2, 3, 4, 5]
    assert {thread for _, thread in made} != {threading.get_ident()}
    assert len({thread for _, thread in made}) == 1


def test_an_error_is_raised_where_it_is_waited_for_and_the_next_goes_on() -> None:
    def copy(copies: Copies) -> int:
        if copies.to[0] == 1:
            raise RuntimeError("no such row")
        return copies.bytes

    side = SideThread(copy)
    wrong, right = side.begin(row(1)), side.begin(row(2))
    assert right.wait() == 1
    with pytest.raises(RuntimeError, match="no such row"):
        wrong.wait()


def test_rows_are_really_copied() -> None:
    memory = np.arange(64, dtype=np.uint8)
    base = memory.ctypes.data
    assert SideThread().begin(row(base, base + 32, 16)).wait() == 16
    assert memory[:16].tolist() == [*range(32, 48)]
