# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The row copying kernel for devices that Triton compiles for."""

import torch
import triton
import triton.language as tl

WORD_BYTES = 4
VECTOR_BYTES = 16
BLOCK = 2048
# Rows are long: a few programs for each row tensor saturate a link between host and device.
PROGRAMS = 64


@triton.jit
def copy_part(target, source, begin, end, block: tl.constexpr):
    """Copy elements [begin, min(begin + block, end)) of two rows."""
    offset = begin + tl.arange(0, block)
    inside = offset < end
    tl.store(target + offset, tl.load(source + offset, mask=inside), mask=inside)


@triton.jit
def copy_rows_kernel(
    destinations,
    sources,
    row_bytes,
    count,
    copied,
    rows,
    word_bytes: tl.constexpr,
    vector_bytes: tl.constexpr,
    block: tl.constexpr,
):
    """Copy parts of rows of row tensor ``program_id(1)``, every ``num_programs(0)``-th part."""
    part_bytes: tl.constexpr = block * word_bytes
    tensor = tl.program_id(1)
    size = tl.load(row_bytes + tensor)
    parts = tl.cdiv(size, part_bytes)
    last = tl.minimum(tl.load(count), rows) * parts
    done = tl.zeros([], tl.int64)
    for part in range(tl.program_id(0).to(tl.int64), last, tl.num_programs(0)):
        row = tensor * rows + part // parts
        begin = part % parts * part_bytes
        end = tl.minimum(begin + part_bytes, size)
        target = tl.load(destinations + row)
        source = tl.load(sources + row)
        # Only whole vectors at addresses that vectors can have; what is left goes byte by byte. The
        # hints hold wherever there is a vector: without one the mask lets nothing through.
        vectors = tl.where((target | source) % vector_bytes == 0, end // vector_bytes, 0)
        copy_part(
            tl.multiple_of(target.to(tl.pointer_type(tl.int32)), vector_bytes),
            tl.multiple_of(source.to(tl.pointer_type(tl.int32)), vector_bytes),
            begin // word_bytes,
            vectors * (vector_bytes // word_bytes),
            block,
        )
        for left in range(tl.maximum(begin, vectors * vector_bytes), end, block):
            copy_part(
                target.to(tl.pointer_type(tl.int8)),
                source.to(tl.pointer_type(tl.int8)),
                left,
                end,
                block,
            )
        done += end - begin
    tl.atomic_add(copied, done, sem="relaxed")


def launch(
    destinations: torch.Tensor,
    sources: torch.Tensor,
    row_bytes: torch.Tensor,
    count: torch.Tensor,
    copied: torch.Tensor,
) -> None:
    """Launch the kernel; its grid depends on M alone, so a graph may replay it with other copies.

    Args:
        destinations: int64[M, N], contiguous, on the device.
        sources: int64[M, N], the same.
        row_bytes: int64[M], on the device.
        count: int32[1], on the device: copies to make for each of the M, at most N.
        copied: int64[1], on the device; the bytes copied are added.
    """
    tensors, rows = sources.shape
    copy_rows_kernel[(PROGRAMS, tensors)](
        destinations,
        sources,
        row_bytes,
        count,
        copied,
        rows,
        word_bytes=WORD_BYTES,
        vector_bytes=VECTOR_BYTES,
        block=BLOCK,
    )
