"""A kernel that reads rows by their addresses, and adds up what it read."""

import torch
import triton
import triton.language as tl

BLOCK = 1024
# Of each row, programs that read a part of it each: enough of them saturate a link.
SLICES = 64


@triton.jit
def read_rows_kernel(
    addresses,
    sums,
    words,
    rows,
    repeats,
    apart: tl.constexpr,
    slices: tl.constexpr,
    block: tl.constexpr,
):
    """Add up a slice of a row, int32 modulo 2**32, into ``sums[repeat, row]``.

    Programs begin about in the order of their numbers: repeats of a slice right behind one another, or
    apart, once every row was begun.
    """
    number = tl.program_id(0)
    part = number % slices
    if apart:
        row = number // slices % rows
        repeat = number // slices // rows
        part_of = part
    else:
        repeat = number % repeats
        part_of = number // repeats % slices
        row = number // repeats // slices
    each = tl.cdiv(words, slices)
    begin = part_of * each
    end = tl.minimum(begin + each, words)
    source = tl.load(addresses + row).to(tl.pointer_type(tl.int32))
    total = tl.zeros([block], tl.int32)
    for place in range(begin, end, block):
        offset = place + tl.arange(0, block)
        total += tl.load(source + offset, mask=offset < end, other=0)
    tl.atomic_add(sums + repeat * rows + row, tl.sum(total), sem="relaxed")


def read_rows(
    addresses: torch.Tensor, sums: torch.Tensor, words: int, *, repeats: int, apart: bool
) -> None:
    """Read rows several times in one launch.

    Args:
        addresses: int64[N], of N rows.
        sums: int32[repeats, N], added to.
        words: int32s of a row.
        repeats: How often each is read.
        apart: Whether a repeat comes once every row was begun.
    """
    rows = len(addresses)
    read_rows_kernel[(rows * repeats * SLICES,)](
        addresses, sums, words, rows, repeats, apart=apart, slices=SLICES, block=BLOCK
    )
