"""Checks of host memory as torch sees it: ``host_pages.py RESULT``; needs torch, not vLLM.

RESULT becomes a JSON object: by the name of each check, null or why it failed.
"""

import ctypes
import gc
import json
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

from expert_bank.pages import HostPages, page_bytes
from expert_bank.smaps import measure, require_exact

DTYPES = (
    torch.uint8,
    torch.bfloat16,
    torch.float16,
    torch.float32,
    torch.float64,
    torch.int64,
    torch.float8_e4m3fn,
    torch.float8_e8m0fnu,
)
EXPERTS, WIDTH, OFFSET = 6, 24, 256


def raised(error: type[Exception], act: Callable[[], object]) -> bool:
    """Whether an act raised just that."""
    try:
        act()
    except error:
        return True
    return False


def a_tensor_is_the_mapping() -> None:
    """Of every type: its address, its shape, and what is written through it, both ways."""
    for dtype in DTYPES:
        length = EXPERTS * WIDTH * dtype.itemsize
        pages = HostPages(OFFSET + length)
        rows = pages.tensor(dtype, (EXPERTS, WIDTH), OFFSET)
        assert (rows.dtype, rows.shape, rows.is_contiguous()) == (dtype, (EXPERTS, WIDTH), True)
        assert rows.data_ptr() == pages.address + OFFSET
        assert rows[3].data_ptr() == pages.address + OFFSET + 3 * WIDTH * dtype.itemsize
        source = torch.arange(length % 256, length % 256 + length).to(torch.uint8)
        rows.copy_(source.view(dtype).view(EXPERTS, WIDTH))
        assert ctypes.string_at(pages.address + OFFSET, length) == bytes(source.tolist())
        pages.view(OFFSET, length)[:] = bytes(length)
        assert not rows.view(torch.uint8).any()


def tensors_keep_the_mapping() -> None:
    """The first one, what is made of it, and nothing else."""
    pages = HostPages(EXPERTS * WIDTH * 2)
    rows = pages.tensor(torch.float16, (EXPERTS, WIDTH))
    row = rows[2].view(torch.int16)
    rows.fill_(2)
    assert raised(BufferError, pages.close)
    del rows
    gc.collect()
    assert raised(BufferError, pages.close)
    assert row.view(torch.float16).tolist() == [2.0] * WIDTH
    parameter = torch.nn.Parameter(row.view(torch.float16), requires_grad=False)
    del row
    gc.collect()
    assert raised(BufferError, pages.close)
    assert parameter.sum().item() == 2 * WIDTH
    del parameter
    gc.collect()
    pages.close()
    assert pages.closed


def a_tensor_outlives_the_object() -> None:
    """Nobody else holds it."""
    rows = HostPages(EXPERTS * WIDTH).tensor(torch.uint8, (EXPERTS, WIDTH))
    gc.collect()
    rows.fill_(7)
    assert rows.sum().item() == 7 * EXPERTS * WIDTH


def several_tensors_share_a_mapping() -> None:
    """As the row tensors of a layer do, one behind the other."""
    pages = HostPages(EXPERTS * WIDTH * 3)
    codes = pages.tensor(torch.uint8, (EXPERTS, WIDTH))
    scales = pages.tensor(torch.bfloat16, (EXPERTS, WIDTH), EXPERTS * WIDTH)
    codes.fill_(1)
    scales.fill_(3)
    assert codes.sum().item() == EXPERTS * WIDTH
    assert bool((scales == 3).all())


def no_row_is_a_tensor_of_none() -> None:
    """Where every expert is hot."""
    rows = HostPages(1).tensor(torch.bfloat16, (0, WIDTH))
    assert (rows.dtype, rows.shape) == (torch.bfloat16, (0, WIDTH))


def what_is_not_within_is_refused() -> None:
    """Too long, too far, before it, across elements."""
    pages = HostPages(64)
    for dtype, shape, offset in (
        (torch.uint8, (65,), 0),
        (torch.uint8, (64,), 1),
        (torch.float32, (17,), 0),
        (torch.float32, (1,), 62),
        (torch.float32, (1,), -4),
        (torch.float32, (-1, -1), 0),
        (torch.uint8, (1,), 64),
    ):
        assert raised(ValueError, partial(pages.tensor, dtype, shape, offset))
    assert pages.tensor(torch.float32, (), 60).item() == 0
    pages.close()


def a_filled_bank_has_the_bytes_of_its_rows() -> None:
    """By the kernel's count, where torch's pinned allocator would have rounded 4.48 to 8."""
    length = int(4.48 * 2**24)
    pages = HostPages(length)
    pages.tensor(torch.uint8, (length,)).fill_(1)
    found = measure(pages.address, pages.size)
    require_exact(found, length, filled=True)
    assert 0 <= found.mapped - length < page_bytes()


CHECKS = (
    a_tensor_is_the_mapping,
    tensors_keep_the_mapping,
    a_tensor_outlives_the_object,
    several_tensors_share_a_mapping,
    no_row_is_a_tensor_of_none,
    what_is_not_within_is_refused,
    a_filled_bank_has_the_bytes_of_its_rows,
)


def failure(check: Callable[[], None]) -> str | None:
    """Run a check; why it failed, or None."""
    try:
        check()
    except Exception:  # noqa: BLE001 - told to whoever asked
        return traceback.format_exc()
    return None


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps({each.__name__: failure(each) for each in CHECKS}))
