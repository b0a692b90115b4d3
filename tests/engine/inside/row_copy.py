"""Checks of the row copies: ``row_copy.py RESULT``; needs torch and Triton, not vLLM."""

import random

import torch
from banks import row_addresses
from checks import DEVICE, bits, tell

from expert_bank.row_address import expert_addresses
from expert_bank.row_copy import RowCopies
from expert_bank.row_copy_triton import BLOCK, WORD_BYTES
from expert_bank.table_layout import BANK, PLACE, ROW

PART = BLOCK * WORD_BYTES
SIZES = (1, 15, 16, 17, 48, 4100, PART - 16, PART, PART + 3, 2 * PART + 32)
GUARD = 32


class Memory:
    """Rows of several sizes with guard bytes around each, in one buffer of random bytes."""

    def __init__(self, sizes: tuple[int, ...], rows: int, shift: int, seed: int) -> None:
        self.sizes, self.rows, self.shift = sizes, rows, shift
        self.starts = [0]
        for size in sizes:
            stride = -(-(size + GUARD) // 16) * 16
            self.starts.append(self.starts[-1] + rows * stride)
        source = torch.Generator().manual_seed(seed)
        length = self.starts[-1] + GUARD + 16
        self.buffer = torch.randint(256, (length,), generator=source).to(torch.uint8).to(DEVICE)

    def offset(self, tensor: int, row: int) -> int:
        """Where in the buffer a row begins: a multiple of 16, and the shift."""
        stride = (self.starts[tensor + 1] - self.starts[tensor]) // self.rows
        return self.starts[tensor] + row * stride + self.shift

    def address(self, tensor: int, row: int) -> int:
        """The same on the device."""
        assert self.buffer.data_ptr() % 16 == 0
        begin: int = self.buffer.data_ptr()
        return begin + self.offset(tensor, row)


def plan(copies: RowCopies, target: Memory, source: Memory, count: int, seed: int) -> bytearray:
    """Write a plan of ``count`` copies; what the target has to hold behind it."""
    expected = bytearray(bits(target.buffer))
    held = bits(source.buffer)
    draw = random.Random(seed)  # noqa: S311 - no secret
    for tensor, size in enumerate(target.sizes):
        most = copies.sources.shape[1]
        to, of = draw.sample(range(target.rows), most), draw.sample(range(source.rows), most)
        for number, (row, taken) in enumerate(zip(to, of, strict=True)):
            copies.destinations[tensor, number] = target.address(tensor, row)
            copies.sources[tensor, number] = source.address(tensor, taken)
            if number < count:
                at, begin = target.offset(tensor, row), source.offset(tensor, taken)
                expected[at : at + size] = held[begin : begin + size]
    copies.count.fill_(count)
    return expected


def copies_are_exact_and_guards_stay() -> None:
    """Many rows of many row tensors in one launch, wherever they begin."""
    for to, of in ((0, 0), (0, 1), (8, 8), (3, 4)):
        target, source = Memory(SIZES, 6, to, 1), Memory(SIZES, 9, of, 2)
        copies = RowCopies(SIZES, rows=4, device=DEVICE)
        expected = plan(copies, target, source, 4, seed=to)
        untouched = bits(source.buffer)
        assert copies.run() == 4 * sum(SIZES)
        assert bits(target.buffer) == bytes(expected)
        assert bits(source.buffer) == untouched


def guards_show_a_byte_too_many() -> None:
    """The negative control: rows that are one byte longer than they should be."""
    longer = tuple(size + 1 for size in SIZES)
    target, source = Memory(SIZES, 6, 0, 1), Memory(SIZES, 9, 0, 2)
    copies = RowCopies(longer, rows=4, device=DEVICE)
    expected = plan(copies, target, source, 4, seed=0)
    copies.run()
    found = bits(target.buffer)
    changed = sum(a != b for a, b in zip(found, expected, strict=True))
    # A random byte is the right one now and then.
    assert len(SIZES) * 4 * 3 // 4 < changed <= len(SIZES) * 4


def every_count_copies_what_it_says() -> None:
    """The same launch again and again with other contents; 0 copies nothing."""
    sizes = (48, PART + 16)
    target, source = Memory(sizes, 6, 0, 3), Memory(sizes, 6, 0, 4)
    copies = RowCopies(sizes, rows=4, device=DEVICE)
    total = 0
    for seed, count in enumerate((0, 1, 4, 0, 3, 2)):
        expected = plan(copies, target, source, count, seed)
        assert copies.run() == count * sum(sizes)
        assert bits(target.buffer) == bytes(expected)
        total += count * sum(sizes)
    assert copies.copied.item() == total > 0


def a_count_that_cannot_be_is_told() -> None:
    """No more than N copies are made, nor fewer than none; either raises."""
    for count, made in ((5, 4), (-1, 0)):
        target, source = Memory((48,), 6, 0, 3), Memory((48,), 6, 0, 4)
        copies = RowCopies((48,), rows=4, device=DEVICE)
        expected = plan(copies, target, source, made, seed=0)
        copies.count.fill_(count)
        told = ""
        try:
            copies.run()
        except RuntimeError as error:
            told = str(error)
        assert f"{made * 48} bytes were copied" in told
        assert bits(target.buffer) == bytes(expected)


def no_rows_are_refused() -> None:
    """Nothing could be copied by them."""
    for sizes, rows in (((), 1), ((0,), 1), ((16,), 0)):
        try:
            RowCopies(sizes, rows=rows, device=DEVICE)
        except ValueError:
            continue
        raise AssertionError(sizes)


def kernel_copies_as_torch_does() -> None:
    """Rows of tensors of every dtype, NaNs with payloads too."""
    source = torch.Generator().manual_seed(5)
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.uint8, torch.float8_e8m0fnu):
        raw = torch.randint(256, (2, 7, 6, 64), generator=source).to(torch.uint8)
        from_rows, rows = (each.to(DEVICE).view(dtype) for each in raw)
        to, of = torch.tensor([5, 0, 3]), torch.tensor([2, 6, 0])
        expected = rows.clone()
        for target, origin in zip(to.tolist(), of.tolist(), strict=True):
            expected[target].copy_(from_rows[origin])
        copies = RowCopies((6 * 64,), rows=3, device=DEVICE)
        copies.destinations[0] = row_addresses(rows, to.to(DEVICE))
        copies.sources[0] = row_addresses(from_rows, of.to(DEVICE))
        copies.count.fill_(3)
        before = bits(rows)
        assert copies.run() == 3 * 6 * 64
        assert bits(rows) == bits(expected) != before


def expert_addresses_are_those_of_places() -> None:
    """Two banks within one buffer, where a place is an index too."""
    for hot in (0, 2, 5):
        rows = torch.zeros(hot + 5, 3, 16, device=DEVICE)
        table = torch.zeros(4, 5, dtype=torch.int32, device=DEVICE)
        table[PLACE] = torch.randperm(hot + 5, generator=torch.Generator().manual_seed(hot))[:5]
        table[BANK] = (table[PLACE] >= hot).int()
        table[ROW] = table[PLACE] - hot * table[BANK]
        found = expert_addresses(table, rows[:hot], rows[hot:])
        assert found.equal(row_addresses(rows, table[PLACE]))


def unlike_banks_are_refused() -> None:
    """Rows that differ, or that vectors cannot read."""
    table = torch.zeros(4, 5, dtype=torch.int32)
    good = torch.zeros(4, 16)
    for hot, cold in (
        (good, good.half()),
        (good, good.view(2, 32)),
        (good[:, :15].contiguous(), good[:, :15].contiguous()),
        (good.view(-1)[1:49].view(3, 16), good),
    ):
        try:
            expert_addresses(table, hot, cold)
        except ValueError:
            continue
        raise AssertionError((hot.shape, cold.shape))


CHECKS = (
    copies_are_exact_and_guards_stay,
    guards_show_a_byte_too_many,
    every_count_copies_what_it_says,
    a_count_that_cannot_be_is_told,
    no_rows_are_refused,
    kernel_copies_as_torch_does,
    expert_addresses_are_those_of_places,
    unlike_banks_are_refused,
)


if __name__ == "__main__":
    tell(CHECKS)
