"""Checks of cold rows that a file has: ``cold_rows.py RESULT``; needs torch, and a folder on a disk."""

import os
import random
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import torch
from checks import tell
from small_banks import picks, random_swap, small

from expert_bank import ops, picked_ahead
from expert_bank.bank import LayerBank, placed
from expert_bank.cold_file import ColdFile
from expert_bank.cold_folder import FOLDER, USUAL
from expert_bank.file_allocation import FileAllocation, ReadAhead
from expert_bank.host_memory import HostMemory
from expert_bank.pages import page_bytes
from expert_bank.split import split
from expert_bank.swaps import Swap
from expert_bank.table import Table
from expert_bank.table_layout import COLD

EXPERTS, SECONDS = 9, 10.0
# Of no whole number of pages, nor of anything else.
WIDE = 300_001


def opened(*, written: bool = False) -> ColdFile:
    """Open a file in the folder that the run names, or the usual one."""
    return ColdFile(Path(os.environ.get(FOLDER) or USUAL), written=written)


def every_row_is_whole_in_memory_and_out_of_it() -> None:
    """Whatever is hot; what is not, is in no memory before it is read."""
    for hot in range(EXPERTS + 1):
        file = opened()
        made = small([hot, EXPERTS - hot], "file", seed=hot, file=file)
        assert file.in_memory() == 0
        assert all(bank.one_allocation for bank in made.two_bank.swapper.banks)
        for _ in range(2):
            made.require_whole()
            assert file.in_memory() == file.size
            file.give_back()
            assert file.in_memory() == 0


def swaps_and_forwards_are_the_resident_layers() -> None:
    """Through random swaps, each step reading its rows anew."""
    file = opened()
    made, draw = small([4, 2], "file", seed=3, file=file), random.Random(3)  # noqa: S311 - no secret
    for step in range(60):
        swap = random_swap(draw, made)
        assert swap is not None
        made.two_bank.barrier.swap([swap])
        ids = picks(step, 6)
        for layer in (0, 1):
            with made.two_bank.step():
                assert made.forward(ids, layer).equal(made.resident(ids, layer))
            assert file.in_memory() == 0
    made.require_whole()
    told = made.two_bank.told()
    assert (told["swaps"], told["failed"], told["file"]["steps"]) == (60, 0, 120)
    assert told["file"]["kept"] == 0


def each_step_must_read_the_pages_of_its_own_cold_rows() -> None:
    """So many bytes, and no more, for steps that touch what they ask for, each page once a step."""
    file = opened()
    bank = wide(file)
    table = Table([1], 5, torch.device("cpu"))
    table.fill(0, *placed([2], 5, "file"))
    ask, least = picked_ahead.asks(bank, table, 0), 0
    for step in range(20):
        ids = picks(step, 1, experts=5)
        # Between steps; no step's.
        assert all(bool((each == 0).all()) for each in bank.row(COLD, 0))
        with file.step():
            for _ in range(2):
                ask(ids)
                for cold in {*ids.reshape(-1).tolist()} - {2}:
                    assert all(bool((each.cold[cold] == cold).all()) for each in bank.tensors)
        least += file_bytes(bank, {*ids.reshape(-1).tolist()} - {2})
        assert (file.least, file.kept) == (least, 0)
    # The process may have read a library's page, too.
    assert file.least <= file.read < 1.1 * file.least


def file_bytes(bank: LayerBank, rows: set[int]) -> int:
    """Bytes of the pages that cold rows lie on, shared ones once."""
    page = page_bytes()
    pages = set()
    for each in bank.tensors:
        for row in rows:
            start = each.cold[row].data_ptr()
            pages |= {*range(start // page, (start + each.cold[row].nbytes - 1) // page + 1)}
    return len(pages) * page


def a_demotion_copies_nothing() -> None:
    """The file's row is where it was."""
    made = small([2], "file", first=[[3, 8]], file=opened())
    assert made.two_bank.swapper.swap(Swap(0, None, 8)).bytes == 0
    assert made.two_bank.table.where(0, 8) == (COLD, 8)
    made.require_whole()


def poisoned_rows_of_a_file_are_nan_and_come_back() -> None:
    """They are written to while serving, and are given back all the same."""
    file = opened(written=True)
    made, draw = small([4, 2], "file", seed=4, poison=True, file=file), random.Random(4)  # noqa: S311 - no secret
    for step in range(20):
        swap = random_swap(draw, made)
        if swap is not None:
            assert not made.two_bank.swapper.swap(swap).failure
        made.require_poisoned()
        with made.two_bank.step():
            assert made.forward(picks(step, 6), 0).equal(made.resident(picks(step, 6), 0))
        assert file.in_memory() == 0
        made.require_poisoned()


def wide(file: ColdFile) -> LayerBank:
    """Bank of a hot row and five cold ones, of three pages by the dozen each."""
    shapes = {"w": (torch.uint8, (WIDE,)), "scale": (torch.int16, (WIDE,))}
    tensors = FileAllocation(file)(shapes, 1, 5, HostMemory())
    for each in tensors:
        each.cold.copy_(torch.arange(5).view(5, 1).expand(5, WIDE))
    file.settle()
    return LayerBank("layer", 5, "file", tensors, ReadAhead(file, tensors))


def pages_of(bank: LayerBank, row: int) -> int:
    """Bytes of the pages that a cold row lies on."""
    page, whole = page_bytes(), 0
    for each in bank.tensors:
        start = each.cold[row].data_ptr()
        whole += -(-(start + each.cold[row].nbytes) // page) * page - start // page * page
    return whole


def a_row_that_is_asked_for_comes_alone() -> None:
    """All its tensors' pages, and no other row's; nobody has touched it."""
    file = opened()
    bank = wide(file)
    assert bank.ahead is not None
    for row in (0, 3, 4):
        bank.ahead(row)
        end = time.monotonic() + SECONDS
        while file.in_memory() < pages_of(bank, row) and time.monotonic() < end:
            time.sleep(0.01)
        assert file.in_memory() == pages_of(bank, row)
        assert all(bool((each == row).all()) for each in bank.row(COLD, row))
        assert file.in_memory() == pages_of(bank, row)
        file.give_back()


def recorded() -> Iterator[tuple[list[int], Table, picked_ahead.Asks]]:
    """What is asked for by picks of a layer with two hot experts and, once, with none."""
    for hot in ([3, 8], []):
        made = small([len(hot)], "file", first=[hot])
        asked: list[int] = []
        (bank,) = made.two_bank.swapper.banks
        table = made.two_bank.table
        yield asked, table, picked_ahead.asks(replace(bank, ahead=asked.append), table, 0)


def picks_ask_for_cold_rows_once_each() -> None:
    """Not for hot ones, and padding's ids are nobody's."""
    ids = torch.tensor([[1, 3, 8], [1, 7, 8], [-1, EXPERTS, 2**31 - 1]], dtype=torch.int32)
    (some, table, ask), (every, _, ask_all) = recorded()
    ask(ids)
    ask_all(ids)
    assert sorted(some) == [1, 7]
    assert sorted(every) == [1, 3, 7, 8]
    table.point(0, 3, COLD, 3)
    some.clear()
    ask(ids.long())
    assert sorted(some) == [1, 3, 7]


def the_op_asks_too() -> None:
    """By its table's address, in compiled code and without; another table's asks for nothing."""
    ops.register()
    (asked, table, ask), _ = recorded()
    counts = torch.zeros(2 * EXPERTS, dtype=torch.int32)
    given = counts, torch.tensor([[1, 3, 8]]), torch.tensor([1], dtype=torch.int32)
    compiled = torch.compile(split, backend="eager", fullgraph=True)
    for run in (torch.ops.expert_bank.split, split, compiled):
        picked_ahead.of_table[table.device[0].data_ptr()] = ask
        places = run(*given, table.device[0])
        assert asked == [1], run
        del picked_ahead.of_table[table.device[0].data_ptr()]
        assert run(*given, table.device[0]).equal(places)
        assert asked.pop() == 1
        assert not asked
    assert counts.any()


if __name__ == "__main__":
    tell(
        (
            every_row_is_whole_in_memory_and_out_of_it,
            swaps_and_forwards_are_the_resident_layers,
            each_step_must_read_the_pages_of_its_own_cold_rows,
            a_demotion_copies_nothing,
            poisoned_rows_of_a_file_are_nan_and_come_back,
            a_row_that_is_asked_for_comes_alone,
            picks_ask_for_cold_rows_once_each,
            the_op_asks_too,
        )
    )
