"""Checks of filled banks: ``filling.py RESULT``; needs torch, not vLLM."""

import random
from collections.abc import Iterator

import torch
from checks import tell
from small_banks import CPU, GUARDED, MODES, ROWS, Small, bytes_of, guarded, same, small

from expert_bank.allocation import ALIGNED, one_allocation
from expert_bank.bank import LayerBank, placed
from expert_bank.boot_map import EMPTY, boot_map
from expert_bank.filling import fill
from expert_bank.host_memory import HostMemory
from expert_bank.plan import Mode, cold_rows
from expert_bank.probe import host_reader
from expert_bank.table import Table
from expert_bank.table_layout import COLD, HOT

EXPERTS = 9


def made() -> Iterator[Small]:
    """All modes, no row hot to all, the first map and a drawn one."""
    for mode in MODES:
        for hot in range(EXPERTS + 1):
            yield small([hot], mode, seed=hot)
            yield small([hot], mode, seed=hot, first=[list(range(hot))])


def every_expert_is_whole_at_its_place() -> None:
    """By its table's entry, in both modes, whatever is hot."""
    for each in made():
        each.require_whole()


def hot_rows_keep_the_maps_order() -> None:
    """The first of the map is in row 0."""
    each = small([4], "mirror", first=[[7, 2, 0, 5]])
    table = each.two_bank.table
    assert [table.where(0, expert) for expert in (7, 2, 0, 5)] == [(HOT, n) for n in range(4)]


def a_mirror_has_every_experts_row() -> None:
    """Expert e's in row e, hot or not; where all are hot there is none."""
    for hot in range(EXPERTS):
        each = small([hot], "mirror", seed=hot)
        bank = each.two_bank.swapper.banks[0]
        assert bank.cold == EXPERTS
        assert bank.mirrors
        for tensor, loaded in zip(bank.tensors, each.loaded[0], strict=True):
            assert same(tensor.cold, loaded), tensor.name
    bank = small([EXPERTS], "mirror").two_bank.swapper.banks[0]
    assert (bank.cold, bank.mirrors) == (0, False)


def exclusive_banks_have_one_row_to_spare() -> None:
    """Where something can be swapped; the hot experts' rows are not in the cold bank."""
    for hot in range(EXPERTS + 1):
        each = small([hot], "exclusive", seed=hot)
        swapper = each.two_bank.swapper
        spare = 1 if 0 < hot < EXPERTS else 0
        assert swapper.banks[0].cold == EXPERTS - hot + spare
        assert (len(swapper.spare[0]), swapper.free[0]) == (spare, [])


def an_empty_map_leaves_the_hot_rows_free() -> None:
    """All experts are served from the mirror; where all are hot, there is none, and all are hot."""
    for hot in range(EXPERTS + 1):
        first = boot_map(EMPTY, hot=[hot], experts=[EXPERTS])
        small([hot], "mirror", first=first).require_whole()
    each = small([4], "mirror", first=[[]])
    each.require_whole()
    assert each.two_bank.table.is_hot()[0].tolist() == [False] * EXPERTS
    assert sorted(each.two_bank.swapper.free[0]) == [0, 1, 2, 3]


def unused_rows_are_written_to() -> None:
    """A page that was never touched is on no node; nothing else than zeros is in them."""
    for mode, first in zip(MODES, ([3], [3, 4, 5]), strict=True):
        each = small([3], mode, first=[first])
        bank, table = each.two_bank.swapper.banks[0], each.two_bank.table
        used = {table.where(0, expert) for expert in range(EXPERTS)}
        for side, rows in ((HOT, bank.hot), (COLD, bank.cold)):
            for row in range(rows):
                if (side, row) not in used and not (bank.mirrors and side == COLD):
                    for written in bank.row(side, row):
                        raw = bytes_of(written)
                        assert not raw.eq(GUARDED).any()
                        assert not raw.any()


def a_real_mapping_is_filled_to_its_last_byte() -> None:
    """One allocation of host memory: its own proof of size and place, and rows that are whole."""
    source = torch.Generator().manual_seed(1)
    cases: list[tuple[Mode, int]] = [("mirror", 0), ("mirror", 400), ("exclusive", 400)]
    for mode, hot in cases:
        experts, memory = 512, HostMemory()
        shapes = {"w": (torch.bfloat16, (64, 33)), "s": (torch.uint8, (65,))}
        tensors = one_allocation(shapes, hot, cold_rows(experts, hot, mode), memory)
        repacked = [
            torch.randint(1, 0x70, (experts, *each.hot.shape[1:]), generator=source).to(each.hot)
            for each in tensors
        ]
        assert all(each.whole is not None for each in tensors)
        assert all(each.hot.data_ptr() % ALIGNED == 0 for each in tensors if hot)
        where = placed(random.Random(1).sample(range(experts), hot), experts, mode)  # noqa: S311 - no secret
        bank = LayerBank("layer", experts, mode, tensors)
        table = Table([hot], experts, CPU)
        table.fill(0, *where)
        fill(bank, repacked, list(zip(*where, strict=True)))
        places = table.device[0][3].long()
        for each, loaded in zip(tensors, repacked, strict=True):
            assert each.whole is not None
            assert same(each.whole[places], loaded)
        most = max(each.asked for each in memory.mappings)
        (told,) = memory.prove(host_reader(most), floor=None)
        assert told.startswith("host memory: ")


def a_banks_numbers_are_its_tensors() -> None:
    """H, C, bytes of a row, addresses."""
    for hot, cold in ((0, 9), (3, 7), (9, 0)):
        tensors, _ = guarded(hot, cold)
        bank = LayerBank("layer", EXPERTS, "exclusive", tensors)
        sizes = [torch.empty(shape, dtype=dtype).nbytes for dtype, shape in ROWS.values()]
        assert (bank.hot, bank.cold, bank.row_bytes) == (hot, cold, sum(sizes))
        assert len(bank.addresses()) == 2 * len(ROWS)


CHECKS = (
    every_expert_is_whole_at_its_place,
    hot_rows_keep_the_maps_order,
    a_mirror_has_every_experts_row,
    exclusive_banks_have_one_row_to_spare,
    an_empty_map_leaves_the_hot_rows_free,
    unused_rows_are_written_to,
    a_real_mapping_is_filled_to_its_last_byte,
    a_banks_numbers_are_its_tensors,
)


if __name__ == "__main__":
    tell(CHECKS)
