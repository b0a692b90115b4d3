"""Checks of what else takes host memory: ``host_terms.py RESULT``."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import torch
from checks import tell

from expert_bank.glue import host_terms
from expert_bank.glue.built import building
from expert_bank.glue.host_terms import EAGER_TIMES, loader_bytes, other_tables

CUDA = torch.device("cuda")
NAME = "deepseek-ai/DeepSeek-V4.1-Flash"


@dataclass
class LoadConfig:
    """vLLM's, as far as it is asked."""

    safetensors_load_strategy: str | None
    download_dir: str | None = None


@dataclass
class Runtime:
    """CUDA's runtime and torch's pinned allocator, as far as they are asked: which memory is pinned.

    Attributes:
        taken: Bytes that the allocator has.
    """

    taken: int = 0
    ranges: dict[int, int] = field(default_factory=dict)

    def cudaHostRegister(self, address: int, size: int, _flags: int) -> SimpleNamespace:  # noqa: N802
        self.ranges[address] = size
        return SimpleNamespace(value=0)

    def cudaHostUnregister(self, address: int) -> SimpleNamespace:  # noqa: N802 - CUDA's name
        del self.ranges[address]
        return SimpleNamespace(value=0)

    def pins(self, tensor: torch.Tensor) -> bool:
        at = tensor.data_ptr()
        return any(start <= at < start + size for start, size in self.ranges.items())

    @contextmanager
    def there(self) -> Iterator[None]:
        """Have torch ask this one."""
        stats = {"allocated_bytes.current": self.taken}
        with ExitStack() as stack:
            stack.enter_context(patch.object(torch.cuda, "cudart", lambda: self))
            stack.enter_context(patch.object(torch.cuda, "host_memory_stats", lambda: stats))
            # A plain function: it is bound to the tensor that is asked.
            pins = lambda of: self.pins(of)  # noqa: E731, PLW0108
            stack.enter_context(patch.object(torch.Tensor, "is_pinned", pins))
            yield


def files_that_are_read_whole_count_as_often_as_the_loader_has_them() -> None:
    """Mapped ones do not, nor what is no weight."""
    with tempfile.TemporaryDirectory() as folder:
        for name, size in (("a.safetensors", 300), ("b.safetensors", 500), ("c.bin", 9000)):
            (Path(folder) / name).write_bytes(b"x" * size)
        assert loader_bytes(LoadConfig("eager"), folder) == EAGER_TIMES * 500
        for strategy in (None, "lazy", "prefetch"):
            assert loader_bytes(LoadConfig(strategy), folder) == 0


def a_name_is_looked_up_in_the_hubs_cache() -> None:
    """Of the revision that is served; one that is not there is told, and not taken for nothing."""
    said: list[str] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(host_terms.logger, "warning", lambda text, *of: said.append(text % of)),
    ):
        eager = LoadConfig("eager", folder)
        assert loader_bytes(eager, NAME) == 0
        assert len(said) == 1
        assert NAME in said[0], said
        assert "in no plan" in said[0], said
        cache = Path(folder) / f"models--{NAME.replace('/', '--')}"
        (cache / "refs").mkdir(parents=True)
        for ref, commit, size in (("main", "a" * 40, 300), ("v2", "b" * 40, 700)):
            (cache / "refs" / ref).write_text(commit)
            snapshot = cache / "snapshots" / commit
            snapshot.mkdir(parents=True)
            (snapshot / "model.safetensors").write_bytes(b"x" * size)
        assert loader_bytes(eager, NAME) == EAGER_TIMES * 300
        assert loader_bytes(eager, NAME, "v2") == EAGER_TIMES * 700
        assert len(said) == 1
        for other in ("v3", "../no name"):
            assert loader_bytes(eager, NAME if other == "v3" else other, other) == 0
        assert len(said) == 3


def tables_that_stay_on_the_host_are_counted_once() -> None:
    """Buffers, too; not the experts, which are on no device yet; on the CPU they are the device's."""
    with building() as built:
        module, other = torch.nn.Linear(8, 8, bias=False), torch.nn.Linear(4, 4, bias=False)
        other.weight = module.weight
        bare = torch.nn.Module()
        bare.register_buffer("table", torch.zeros(1000, dtype=torch.uint8), persistent=False)
        with torch.device("meta"):
            experts = torch.nn.Linear(100, 100)
    assert {*built} == {module, other, bare, experts}
    with Runtime().there():
        assert other_tables(built, CUDA) == 8 * 8 * 4 + 1000
    assert other_tables(built, torch.device("cpu")) == 0


def what_the_pinned_allocator_took_counts_in_place_of_what_was_asked_for() -> None:
    """It rounds up: 4.48 GiB were 8 on the machine that this is for."""
    pinned, plain = torch.nn.Linear(8, 8, bias=False), torch.nn.Linear(4, 4, bias=False)
    runtime = Runtime(taken=512)
    runtime.ranges[pinned.weight.data_ptr()] = pinned.weight.nbytes
    with runtime.there():
        assert other_tables([pinned], CUDA) == 512
        assert other_tables([pinned, plain], CUDA) == 512 + 4 * 4 * 4


def vllms_engram_counts_beside_what_is_pinned() -> None:
    """Its mapping is pinned and none of torch's; as its weights and scales are one storage, once."""
    from vllm.models.deepseek_v41.common import engram  # noqa: PLC0415 - its import is long

    pinned, runtime = torch.nn.Linear(8, 8, bias=False), Runtime(taken=512)
    runtime.ranges[pinned.weight.data_ptr()] = pinned.weight.nbytes
    properties = SimpleNamespace(multi_processor_count=1)
    with ExitStack() as stack:
        stack.enter_context(runtime.there())
        for owner, name, given in (
            (engram, "is_uva_available", True),
            (engram, "get_tensor_model_parallel_world_size", 1),
            (engram, "get_tensor_model_parallel_rank", 0),
            (engram, "get_engram_dp_size", 1),
            (torch.cuda, "get_device_properties", properties),
            (torch.accelerator, "current_device_index", 0),
        ):
            stack.enter_context(patch.object(owner, name, lambda *_, given=given: given))
        with building() as built:
            table = engram.ParallelEngramEmbedding(
                1000, 64, (600, 400), cpu_offload=True, use_thp=True
            )
        assert table.weight.is_pinned()
        assert {*built} == {table}
        assert other_tables([table, pinned], CUDA) == 1000 * (64 + 64 // 32) + 512
        del table, built
        assert len(runtime.ranges) == 1


if __name__ == "__main__":
    tell(
        [
            files_that_are_read_whole_count_as_often_as_the_loader_has_them,
            a_name_is_looked_up_in_the_hubs_cache,
            tables_that_stay_on_the_host_are_counted_once,
            what_the_pinned_allocator_took_counts_in_place_of_what_was_asked_for,
            vllms_engram_counts_beside_what_is_pinned,
        ]
    )
