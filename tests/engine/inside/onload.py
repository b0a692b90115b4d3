"""Checks of tensors that are brought into buffers together: ``onload.py RESULT``; needs torch alone."""

import random
from collections.abc import Callable
from math import prod

import torch
from checks import bits, tell

from expert_bank.staging.batched import BatchedCopy, CopyRefusedError, one_by_one
from expert_bank.staging.copies import Addresses, Copies, NotApart
from expert_bank.staging.onload import Onload, Onloaded, Pair

DTYPES = (torch.bfloat16, torch.float32, torch.int8, torch.int64, torch.float8_e4m3fn)


def dense(draw: random.Random) -> torch.Tensor:
    """Random bytes of a random shape, dtype and order of dimensions, without gaps."""
    shape = [draw.randrange(1, 9) for _ in range(draw.randrange(1, 4))]
    dtype = draw.choice(DTYPES)
    size = prod(shape) * dtype.itemsize
    source = torch.Generator().manual_seed(draw.randrange(2**31))
    flat = torch.randint(256, (size,), generator=source).to(torch.uint8)
    return flat.view(dtype).reshape(shape).permute(draw.sample(range(len(shape)), len(shape)))


def buffer_of(tensor: torch.Tensor) -> torch.Tensor:
    """A buffer as the offloader's pool makes it, of zeros."""
    found = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)
    return found.copy_(torch.zeros_like(tensor))


def plain(capturing: bool = False) -> Onload:  # noqa: FBT001, FBT002
    return Onload(one_by_one, lambda: capturing)


def refusal(call: Callable[[], None], kind: type[Exception]) -> str:
    """How a call is refused."""
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__}")


def same(pairs: list[Pair]) -> bool:
    return all(flat(buffer) == flat(source) for buffer, source in pairs)


def flat(tensor: torch.Tensor) -> bytes:
    return bits(torch.cat([tensor.reshape(-1)]))


def every_dense_tensor_goes_in_one_batch() -> None:
    draw = random.Random(8)  # noqa: S311 - no secret
    onload, tensors, size = plain(), 0, 0
    for batches in range(1, 60):
        pairs = [
            (buffer_of(each), each) for each in (dense(draw) for _ in range(draw.randrange(1, 9)))
        ]
        onload(pairs)
        assert same(pairs)
        tensors += len(pairs)
        size += sum(each.nbytes for _, each in pairs)
        assert onload.done == Onloaded(batches, tensors, size)
    assert onload.told() == {
        "batches": 59, "tensors": tensors, "bytes": size, "captured": 0, "unlike": 0,
    }  # fmt: skip


def a_driver_gets_small_and_large_apart() -> None:
    calls: list[list[int]] = []

    def submit(source: Addresses, to: Addresses, sizes: Addresses) -> None:
        calls.append(sorted(sizes.tolist()))
        one_by_one(Copies(to, source, sizes))

    onload = Onload(BatchedCopy(submit, lambda: False), lambda: False)
    sources = [torch.rand(size) for size in (3, 2**20, 7, 2**19)]
    pairs = [(torch.zeros_like(each), each) for each in sources]
    onload(pairs)
    assert same(pairs)
    assert sorted(calls) == [[12, 28], [2**21, 2**22]]


def unlike_layouts_are_copied_by_torch() -> None:
    source = torch.arange(24.0).reshape(4, 6)
    strided = torch.arange(48.0).reshape(4, 12)[:, ::2]
    pairs = [
        (torch.zeros(4, 6), source.t().contiguous().t()),
        (torch.zeros(8, 6)[::2], torch.arange(48.0).reshape(8, 6)[::2]),
        (torch.zeros(4, 6), strided),
        (torch.zeros(24, dtype=torch.float64).reshape(4, 6), source),
        (torch.zeros(0, 3), torch.zeros(0, 3)),
        (torch.zeros(4, 6), source),
    ]
    onload = plain()
    onload(pairs)
    assert all(torch.equal(buffer.to(each.dtype), each) for buffer, each in pairs)
    assert onload.done == Onloaded(1, 1, source.nbytes, 0, 5)


def gaps_of_a_buffer_are_left_alone() -> None:
    whole = torch.full((8, 6), 7.0)
    source = torch.zeros(8, 6)[::2]
    plain()([(whole[::2], source)])
    assert torch.equal(whole[1::2], torch.full((4, 6), 7.0))


def a_captured_copy_is_torchs_own() -> None:
    def copy(_copies: Copies) -> int:
        raise AssertionError("a batch was asked for")

    onload = Onload(copy, lambda: True)
    pairs = [(torch.zeros(5), torch.rand(5)), (torch.zeros(2, 2), torch.rand(2, 2))]
    onload(pairs)
    assert same(pairs)
    assert onload.done == Onloaded(captured=2)


def nothing_is_asked_of_no_pair() -> None:
    onload = plain()
    onload([])
    assert onload.done == Onloaded()


def a_copy_that_is_short_is_an_error_and_not_counted() -> None:
    onload = Onload(lambda _copies: 0, lambda: False)
    told = refusal(lambda: onload([(torch.zeros(4), torch.ones(4))]), RuntimeError)
    assert "0 of 16 bytes of 1 tensors were copied" in told, told
    assert onload.done == Onloaded()


def buffers_that_meet_are_refused() -> None:
    whole = torch.zeros(8)
    pairs = [(whole[:5], torch.ones(5)), (whole[4:], torch.ones(4))]
    refusal(lambda: plain()(pairs), NotApart)
    assert not whole.any()


def what_the_driver_refuses_is_not_swallowed() -> None:
    def submit(*_ranges: Addresses) -> None:
        raise CopyRefusedError("no such device")

    onload = Onload(BatchedCopy(submit, lambda: False), lambda: False)
    told = refusal(lambda: onload([(torch.zeros(4), torch.ones(4))]), CopyRefusedError)
    assert "no such device" in told
    assert onload.done == Onloaded()


CHECKS = (
    every_dense_tensor_goes_in_one_batch,
    a_driver_gets_small_and_large_apart,
    unlike_layouts_are_copied_by_torch,
    gaps_of_a_buffer_are_left_alone,
    a_captured_copy_is_torchs_own,
    nothing_is_asked_of_no_pair,
    a_copy_that_is_short_is_an_error_and_not_counted,
    buffers_that_meet_are_refused,
    what_the_driver_refuses_is_not_swallowed,
)


if __name__ == "__main__":
    tell(CHECKS)
