"""vLLM's own worker, sleep mode and allocator, over memory of Linux: what is told is CUDA's driver."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch
from mapped_pool import MappedPool, bytes_at, come_again, let_go, moved
from small_banks import Small, small
from vllm import device_allocator
from vllm.device_allocator import cumem
from vllm.v1.worker import gpu_worker

from expert_bank.glue import pool as glue_pool
from expert_bank.glue import sleeping
from expert_bank.glue.extension import WorkerExtension
from expert_bank.glue.worker import BankWorker
from expert_bank.plan import Mode
from expert_bank.watch import Watch

WHOLE = 2**40


class Worker(BankWorker, gpu_worker.Worker, WorkerExtension):  # type: ignore[misc]  # mypy does not see vLLM
    """Ours over vLLM's, without a device behind it."""

    def __init__(self) -> None:
        """Leave all to whoever makes one."""


@dataclass
class Driver:
    """Maps device memory and lets it go.

    Attributes:
        mapped: Bytes that are there.
        fails: How many mappings from now on fail.
        grows: Bytes that somebody else takes of the device when memory is let go.
        known: Host memory that the device knows: length by address.
    """

    mapped: int = 0
    fails: int = 0
    grows: int = 0
    known: dict[int, int] = field(default_factory=dict)

    def map(self, _device: int, size: int, address: int, _handle: int) -> None:
        """Have memory at an address again."""
        if self.fails:
            self.fails -= 1
            raise RuntimeError("CUDA Error: out of memory")
        come_again(address, size)
        self.mapped += size

    def unmap(self, _device: int, size: int, address: int, _handle: int) -> None:
        """Let it go."""
        let_go(address, size)
        self.mapped += self.grows - size

    def left(self, *_: object) -> tuple[int, int]:
        """Bytes that are free, and all."""
        return WHOLE - self.mapped, WHOLE

    def register(self, address: int, length: int) -> int:
        """Take host memory."""
        self.known[address] = length
        return 0

    def unregister(self, address: int) -> int:
        """Let it go."""
        return int(not self.known.pop(address, 0))


class Model(torch.nn.Module):  # type: ignore[misc]  # nor torch
    """A parameter, a buffer, and what is neither, all of them in the pool."""

    def __init__(self, room: Callable[[int], torch.Tensor]) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(room(4096).view(torch.int32), requires_grad=False)
        self.register_buffer("cache", room(600))
        self.neither = [room(77), room(4096)]


@dataclass
class Bed:
    """A worker, its banks, and the pool that they are in."""

    worker: Any
    made: Small
    pool: MappedPool
    allocator: Any
    driver: Driver

    def seen(self, tag: str = "weights") -> list[torch.Tensor]:
        """Copy the bytes of a tag."""
        return self.pool.seen(tag)

    def asleep(self) -> set[str]:
        """Tags of which something is let go."""
        return {each.tag for each in self.allocator.pointer_to_data.values() if each.is_asleep}

    def backed_up(self) -> set[str]:
        """Tags of which vLLM itself keeps something."""
        held = self.allocator.pointer_to_data.values()
        return {each.tag for each in held if each.cpu_backup_tensor is not None}

    def require_as_before(self, before: list[torch.Tensor]) -> None:
        """Every byte of the weights, all rows, and nothing is kept any more."""
        assert all(one.equal(other) for one, other in zip(before, self.seen(), strict=True))
        self.made.require_whole()
        assert self.worker.asleep is None
        assert not self.driver.known
        assert self.made.two_bank.barrier.closed == []


@contextmanager
def bed(mode: Mode = "mirror", *, device: str = "cuda", sleep_mode: bool = True) -> Iterator[Bed]:
    """Lay a model and its banks into vLLM's pool; every hot row has an expert."""
    driver, pool, allocator = Driver(), MappedPool(11), cumem.CuMemAllocator()
    model = Model(pool.room)
    made = small([4, 3], mode, seed=5, room=pool.room)
    pool.room(3000, "kv_cache")
    two_bank = made.two_bank
    model.register_buffer("table", two_bank.table.device[0])
    for each in pool.held:
        handle = (0, each.place.length, each.place.start, 7)
        allocator.pointer_to_data[each.place.start] = cumem.AllocationData(handle, each.tag)
        driver.mapped += each.place.length
    worker: Any = Worker()
    config = SimpleNamespace(
        model="a model",
        enable_sleep_mode=sleep_mode,
        sleep_mode_backend="cumem",
        enable_nccl_comm_suspend=False,
        sleep_preserve_parameter_names=[],
    )
    worker.vllm_config = SimpleNamespace(model_config=config, offload_config=SimpleNamespace())
    worker.model_config = config
    worker.device = torch.device(device)
    worker.model_runner = SimpleNamespace(
        model=model, get_model=lambda: model, get_draft_model=lambda: None
    )
    worker._sleep_mode_backend = None  # noqa: SLF001 - as vLLM begins
    for name in ("buffers", "parameters", "draft_buffers"):
        setattr(worker, f"_sleep_saved_{name}", {})
    worker.two_bank, worker.pick_counter = two_bank, two_bank.counter
    two_bank.watch = Watch(two_bank, "a model", file=None, tell=lambda _: None, warn=lambda _: None)
    runtime = SimpleNamespace(cudaMemcpy=moved)
    with (
        patch.object(cumem, "python_create_and_map", driver.map),
        patch.object(cumem, "python_unmap_and_release", driver.unmap),
        patch.object(cumem, "libcudart", runtime),
        patch.object(device_allocator, "get_mem_allocator_instance", lambda: allocator),
        patch.object(glue_pool, "get_mem_allocator_instance", lambda: allocator),
        patch.object(glue_pool, "CudaRTLibrary", lambda: runtime),
        patch.object(sleeping, "register_with_cuda", driver.register),
        patch.object(sleeping, "unregister_with_cuda", driver.unregister),
        patch.object(torch.accelerator, "empty_cache", lambda: None),
        patch.object(torch.accelerator, "synchronize", lambda *_: None),
        patch.object(torch.accelerator, "get_memory_info", driver.left),
    ):
        yield Bed(worker, made, pool, allocator, driver)


def first_weights(of: Bed) -> torch.Tensor:
    """Look at the first bytes of the weights, there or not."""
    return bytes_at(next(each.place for each in of.pool.held if each.tag == "weights"))
