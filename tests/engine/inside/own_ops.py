"""vLLM's own kernels, and how near a stand-in in torch has to be to them."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from checks import Skipped
from vllm import _custom_ops  # noqa: F401 - loads vLLM's build for this CPU


def own(*names: str) -> Any:  # noqa: ANN401 - torch has no name for it
    """Give vLLM's ops, if all that are named are there.

    Raises:
        Skipped: vLLM has none of them for CPUs like this one.
        AssertionError: It has them for such CPUs, and this build does not.
    """
    missing = [name for name in names if not hasattr(torch.ops._C, name)]  # noqa: SLF001
    if not missing:
        return torch.ops._C  # noqa: SLF001 - where vLLM registers its kernels
    told = f"vLLM's build for this CPU has no {', '.join(missing)}"
    # What vLLM chooses its build by.
    if torch.cpu._is_avx512_bf16_supported():  # noqa: SLF001
        raise AssertionError(told)
    raise Skipped(told)


def require_kept(
    names: Sequence[str], shim: Callable[[], None], register: Callable[[], None]
) -> None:
    """Assert that vLLM's ops stay as they are under a shim, and cannot be replaced by hand."""
    own(*names)
    before = _dispatched(names)
    shim()
    try:
        register()
    except RuntimeError as error:
        assert "multiple times" in str(error)  # noqa: PT017 - no pytest in a lane's Python
    else:
        raise AssertionError(names)
    assert before == _dispatched(names)


def _dispatched(names: Sequence[str]) -> list[str]:
    return [torch._C._dispatch_dump(f"_C::{name}") for name in names]  # noqa: SLF001


def round_alike(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    """Assert that a hundredth of the numbers, at most, is rounded to the neighbour.

    Both are summed in float32 in an order of their own, and rounded once. Where a sum is next to
    nothing that order is seen by itself.
    """
    assert ours.dtype == theirs.dtype
    a, b = ours.double(), theirs.double()
    off = (a - b).abs()
    assert bool((off <= torch.finfo(ours.dtype).eps * b.abs() + 1e-6 * b.abs().max()).all())
    assert (off > 0).double().mean() <= 0.01


def quantise_alike(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    """Assert the same of bytes that are float8_e4m3fn.

    vLLM's kernels for the attention's cache know no number below the least normal one: 0 is
    written for it. ``numbers_below_the_least_normal_are_written`` says which of the two is right.
    """
    assert bool((ours & 0x80 == theirs & 0x80).all())
    a, b = (ours & 0x7F).int(), (theirs & 0x7F).int()
    zero = (b == 0) & (a <= 8)
    assert bool(((a - b).abs() <= 1)[~zero].all())
    assert ((a != b) & ~zero).double().mean() <= 0.01
