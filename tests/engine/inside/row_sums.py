"""Checks of the sums of rows: ``row_sums.py RESULT``; needs torch, not vLLM."""

from itertools import combinations
from math import prod

import torch
from checks import tell

from expert_bank import row_sums as module
from expert_bank.row_sums import row_sums, tensor_sums

FLOATS = ("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float16", "bfloat16", "float32")
OTHERS = ("float64", "complex64", "bool", "uint8", "int8", "int16", "int32", "int64")
SHAPES = ((1,), (3,), (4,), (5, 7), (2, 3, 4), ())


def drawn(source: torch.Generator, rows: int, size: int) -> torch.Tensor:
    """Draw uint8[rows, size]."""
    return torch.randint(0, 256, (rows, size), generator=source).to(torch.uint8)


def by_hand(raw: torch.Tensor) -> list[int]:
    """Sum uint8[N, bytes] in Python's own integers."""
    size = raw.shape[1]
    wide = next(each for each in (4, 2, 1) if size % each == 0)
    sums = []
    for row in raw.tolist():
        total = 0
        for number, start in enumerate(range(0, size, wide), 1):
            word = int.from_bytes(bytes(row[start : start + wide]), "little", signed=wide > 1)
            total += number * word
        sums.append((total + 2**63) % 2**64 - 2**63)
    return sums


def sums_are_those_of_python() -> None:
    """Of every dtype, of odd sizes, and of one number a row."""
    source = torch.Generator().manual_seed(1)
    for name in (*FLOATS, *OTHERS):
        dtype = getattr(torch, name)
        for shape in SHAPES:
            raw = drawn(source, 5, prod(shape) * dtype.itemsize)
            assert row_sums(raw.view(dtype).view(5, *shape)).tolist() == by_hand(raw), (name, shape)


def one_changed_byte_always_shows() -> None:
    """Every byte of rows of even and odd sizes, to every other value."""
    source = torch.Generator().manual_seed(2)
    for size in (1, 2, 3, 6, 8, 13, 32):
        row = drawn(source, 1, size)
        before = row_sums(row)
        for at in range(size):
            changed = row.repeat(256, 1)
            changed[:, at] = torch.arange(256, dtype=torch.uint8)
            equal = (row_sums(changed) == before).nonzero().flatten().tolist()
            assert equal == [int(row[0, at])], (size, at)


def two_words_that_change_places_always_show() -> None:
    """Also where they differ in one high bit alone, as a number and its negative do."""
    words = [0, 1, -1, 2**31 - 1, -(2**31), 2**30, 0x3F80, 0xBF80]
    for width in (2, 3, 17):
        for one, other in combinations(words, 2):
            for first, second in combinations(range(width), 2):
                row = torch.zeros(2, width, dtype=torch.int32)
                row[0, first], row[0, second] = one, other
                row[1, first], row[1, second] = other, one
                before, after = row_sums(row).tolist()
                assert before != after, (one, other, first, second)
    for number in (1.0, 3.5):
        pair = torch.tensor([[number, 0, -number, 0], [-number, 0, number, 0]])
        for dtype in (torch.float64, torch.float32, torch.bfloat16):
            before, after = row_sums(pair.to(dtype)).tolist()
            assert before != after, dtype


def parts_make_the_same_sum() -> None:
    """Rows that are summed in columns, in blocks of rows, and at once."""
    source = torch.Generator().manual_seed(3)
    most = module.CPU_WORDS
    try:
        for rows, size in ((3, 4 * 33), (40, 8), (7, 13), (1, 4 * 100)):
            raw = drawn(source, rows, size)
            for part in (1, 2, 5, 32, 33, 34, 10**6):
                module.CPU_WORDS = part
                assert row_sums(raw).tolist() == by_hand(raw), (rows, size, part)
    finally:
        module.CPU_WORDS = most


def no_row_and_no_byte_have_sums() -> None:
    """No rows: no sums; rows of nothing: zeros."""
    for dtype in (torch.bfloat16, torch.uint8, torch.float32):
        assert row_sums(torch.zeros(0, 5, dtype=dtype)).shape == (0,)
        assert row_sums(torch.zeros(4, 0, 3, dtype=dtype)).tolist() == [0] * 4


def where_a_row_lies_does_not_matter() -> None:
    """At odd offsets, as one row of many, and as a copy."""
    source = torch.Generator().manual_seed(4)
    raw = drawn(source, 9, 20)
    expected = by_hand(raw)
    for offset in range(9):
        memory = torch.zeros(offset + raw.numel(), dtype=torch.uint8)
        moved = memory[offset:].view(9, 20).copy_(raw)
        assert row_sums(moved).tolist() == expected, offset
        assert [int(row_sums(each[None])[0]) for each in moved] == expected, offset
    assert row_sums(raw.t().contiguous().t()).tolist() == expected


def tensors_stand_side_by_side() -> None:
    """int64[N, tensors], in their order."""
    source = torch.Generator().manual_seed(5)
    raws = [drawn(source, 6, size) for size in (3, 8)]
    found = tensor_sums(raws)
    assert (found.dtype, found.shape) == (torch.int64, (6, 2))
    assert found.t().tolist() == [by_hand(each) for each in raws]


CHECKS = (
    sums_are_those_of_python,
    one_changed_byte_always_shows,
    two_words_that_change_places_always_show,
    parts_make_the_same_sum,
    no_row_and_no_byte_have_sums,
    where_a_row_lies_does_not_matter,
    tensors_stand_side_by_side,
)


if __name__ == "__main__":
    tell(CHECKS)
