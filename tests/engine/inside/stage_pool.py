"""Checks of the staging buffer's memory on a CPU: ``stage_pool.py RESULT``; needs torch, not vLLM."""

import gc
import os
import tempfile
from math import prod
from pathlib import Path
from unittest.mock import patch

import torch
from checks import Skipped, tell
from mapped_pool import dies
from small_banks import ROWS, raised

from expert_bank.bank import RowTensor
from expert_bank.host_memory import HostMemory
from expert_bank.pages import page_bytes, whole_pages
from expert_bank.refused import Refused
from expert_bank.sizes import told
from expert_bank.staging import pool as pool_module
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
        size = told(pool.size)
        line = f"staging buffer: {size} of host memory for 700 rows, {size} in memory, "
        assert pool.prove().startswith(line), pool.prove()
        assert all(not each.held % page_bytes() for each in memory.mappings)
    empty = StagePool(ROWS, STAGE, HostMemory())
    assert "in memory" in raised(Refused, empty.prove)


def one_that_is_larger_than_its_rows_is_refused() -> None:
    """Given whole: only the rows' own bytes tell."""

    def rounded(length: int, page: int) -> int:
        return 1 << (whole_pages(length, page) - 1).bit_length()

    with patch.object(pool_module, "whole_pages", rounded):
        pool = StagePool(ROWS, STAGE, HostMemory())
    pool.fill()
    assert raised(Refused, pool.prove).startswith("staging buffer: ")


def machine(root: Path, nodes: int) -> Path:
    """A machine of several nodes, all of whose CPUs and memory are the first one's."""
    for number in range(nodes):
        folder = root / f"sys/devices/system/node/node{number}"
        folder.mkdir(parents=True)
        (folder / "cpulist").write_text("" if number else "0-4095\n")
        kib = 0 if number else 2**23
        fields = ("MemTotal", "MemFree", "Active(file)", "Inactive(file)")
        lines = (f"Node {number} {each}: {kib} kB\n" for each in fields)
        (folder / "meminfo").write_text("".join(lines))
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/status").write_text("")
    return root / "proc/self/numa_maps"


def its_node_is_proven_as_the_banks_is() -> None:
    """One page of one tensor elsewhere, or not there, is enough to refuse it."""
    with tempfile.TemporaryDirectory() as folder:
        maps = machine(Path(folder), 2)
        allocate, memory = StagedAllocation(STAGE), HostMemory(root=Path(folder))
        made = allocate(ROWS, 3, 9, memory)
        pool = pool_of(allocate)
        assert "(not proven: /proc/self/numa_maps cannot be read)" in pool.prove()
        stages = [each.stage for each in made if each.stage is not None]
        assert len(stages) == len(ROWS)
        counts = {
            each.data_ptr(): whole_pages(each.nbytes, page_bytes()) // page_bytes()
            for each in stages
        }

        def placed(*last: str) -> None:
            lines = [f"{at:x} bind:0 file=/memfd N0={n}" for at, n in counts.items()]
            lines[-1] = " ".join([lines[-1].rpartition(" ")[0], *last])
            maps.write_text("".join(f"{each}\n" for each in lines))

        pages = [*counts.values()][-1]
        placed(f"N0={pages}")
        assert pool.prove().endswith(", all on node 0")
        for wrong in ([f"N0={pages - 1}", "N1=1"], [f"N1={pages}"], []):
            placed(*wrong)
            assert "must be on node 0, but" in raised(Refused, pool.prove), wrong


def the_kernel_here_tells_its_node() -> None:
    """Every page of it, though none of it was written to."""
    if not Path("/proc/self/numa_maps").is_file():
        raise Skipped("this kernel has no /proc/self/numa_maps")
    allocate, memory, _made = layers(2)
    if memory.node is not None:
        assert pool_of(allocate).prove().endswith(f", all on node {memory.node}")


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
            said = raised(Refused, lambda: layers(1))
        assert "No space left on device" in said, said
        assert "moe_prefill_stage" in said, said
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
            one_that_is_larger_than_its_rows_is_refused,
            its_node_is_proven_as_the_banks_is,
            the_kernel_here_tells_its_node,
            it_is_given_back_with_the_last_layer,
            a_forked_child_does_not_get_it,
            what_the_system_does_not_give_and_other_shapes_are_refused,
        ]
    )
