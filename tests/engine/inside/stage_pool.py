"""Checks of the staging buffer's memory on a CPU: ``stage_pool.py RESULT``; needs torch, not vLLM."""

import gc
import os
from math import prod
from pathlib import Path
from unittest.mock import patch

import torch
from checks import tell
from mapped_pool import dies
from small_banks import ROWS, raised

from expert_bank.bank import RowTensor
from expert_bank.host_memory import HostMemory
from expert_bank.pages import page_bytes, whole_pages
from expert_bank.refused import Refused
from expert_bank.staging.pool import StagedAllocation, StagePool

STAGE = 700


def files() -> set[str]:
    """Descriptors of this process that are of a buffer."""
    found = (each for each in Path("/proc/self/fd").iterdir() if each.is_symlink())
    return {each.name for each in found if "expert_bank-stage" in str(each.readlink())}


def layers(count: int) -> tuple[StagedAllocation, HostMemory, list[tuple[RowTensor, ...]]]:
    """Allocate some, of unlike sizes."""
    allocate, memory = StagedAllocation(STAGE), HostMemory()
    return allocate, memory, [allocate(ROWS, 3 + n, 9, memory) for n in range(count)]


def pool_of(allocate: StagedAllocation) -> StagePool:
    """What all layers share."""
    assert allocate.pool is not None
    return allocate.pool


def the_buffer_is_the_same_memory_behind_every_layer() -> None:
    """And nobody else's: hot and cold rows stay as they were."""
    _allocate, _memory, made = layers(3)
    for tensors in made:
        for each in tensors:
            assert each.whole is not None
            each.whole[:-STAGE].reshape(-1).view(torch.uint8).fill_(7)
    for number, each in enumerate(made[1]):
        assert each.stage is not None
        each.stage.reshape(-1).view(torch.uint8).fill_(number + 1)
    for tensors in made:
        for number, each in enumerate(tensors):
            assert each.whole is not None
            assert each.stage is not None
            assert each.stage.data_ptr() == each.whole[-STAGE:].data_ptr()
            assert bool((each.stage.reshape(-1).view(torch.uint8) == number + 1).all())
            for rows in (each.hot, each.cold):
                assert bool((rows.reshape(-1).view(torch.uint8) == 7).all())


def it_is_in_memory_from_the_start_and_of_the_size_of_the_arithmetic() -> None:
    """However many layers; one that was not given whole is refused."""
    for count in (1, 4):
        allocate, memory, _made = layers(count)
        pool = pool_of(allocate)
        sizes = (dtype.itemsize * prod(shape) * STAGE for dtype, shape in ROWS.values())
        assert pool.size == sum(whole_pages(size, page_bytes()) for size in sizes)
        assert "700 rows" in pool.prove()
        assert all(not each.held % page_bytes() for each in memory.mappings)
    empty = StagePool(ROWS, STAGE, HostMemory())
    assert "in memory" in raised(Refused, empty.prove)


def it_is_given_back_with_the_last_layer() -> None:
    """The memory, and the descriptor."""
    before = files()
    allocate, memory, made = layers(2)
    assert len(files() - before) == 1
    del allocate, memory, made
    gc.collect()
    assert files() == before


def a_forked_child_does_not_get_it() -> None:
    """As it does not get the banks; the parent's stays whole."""
    _allocate, _memory, made = layers(1)
    stage = made[0][0].stage
    assert stage is not None
    stage.fill_(1.0)
    assert dies(lambda: stage.sum().item())
    assert bool((stage == 1.0).all())


def what_the_system_does_not_give_and_other_shapes_are_refused() -> None:
    """With what to change."""

    def no(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for call in ("memfd_create", "ftruncate", "posix_fallocate"):
        before = files()
        with patch.object(os, call, no):
            told = raised(Refused, lambda: layers(1))
        assert "No space left on device" in told, told
        assert "moe_prefill_stage" in told, told
        gc.collect()
        assert files() == before, call
    allocate, memory, _made = layers(1)
    other = {**ROWS, "w2_bias": (torch.float16, (4,))}
    assert "several shapes" in raised(Refused, lambda: allocate(other, 3, 9, memory))


if __name__ == "__main__":
    tell(
        [
            the_buffer_is_the_same_memory_behind_every_layer,
            it_is_in_memory_from_the_start_and_of_the_size_of_the_arithmetic,
            it_is_given_back_with_the_last_layer,
            a_forked_child_does_not_get_it,
            what_the_system_does_not_give_and_other_shapes_are_refused,
        ]
    )
