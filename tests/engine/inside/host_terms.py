"""Checks of what else takes host memory: ``host_terms.py RESULT``; needs torch, not vLLM."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import torch
from checks import tell

from expert_bank.glue.host_terms import EAGER_TIMES, loader_bytes, other_tables

CUDA = torch.device("cuda")


@dataclass
class LoadConfig:
    """vLLM's, as far as it is asked."""

    safetensors_load_strategy: str | None


def files_that_are_read_whole_count_as_often_as_the_loader_has_them() -> None:
    """Mapped ones do not, nor what is no weight; a name that is no folder has none yet."""
    with tempfile.TemporaryDirectory() as folder:
        for name, size in (("a.safetensors", 300), ("b.safetensors", 500), ("c.bin", 9000)):
            (Path(folder) / name).write_bytes(b"x" * size)
        assert loader_bytes(LoadConfig("eager"), folder) == EAGER_TIMES * 500
        for strategy in (None, "lazy", "prefetch"):
            assert loader_bytes(LoadConfig(strategy), folder) == 0
    assert loader_bytes(LoadConfig("eager"), "deepseek-ai/DeepSeek-V4.1-Flash") == 0


def tables_that_stay_on_the_host_are_counted_once() -> None:
    """Not the experts, which are on no device yet; on the CPU they are the device's."""
    module, other = torch.nn.Linear(8, 8, bias=False), torch.nn.Linear(4, 4, bias=False)
    other.weight = module.weight
    with torch.device("meta"):
        experts = torch.nn.Linear(100, 100)
    built = [module, other, experts]
    with patch.object(torch.cuda, "host_memory_stats", dict):
        assert other_tables(built, CUDA) == 8 * 8 * 4
    assert other_tables(built, torch.device("cpu")) == 0


def what_the_pinned_allocator_took_counts_where_it_is_more() -> None:
    """It rounds up: 4.48 GiB were 8 on the machine that this is for."""
    module = torch.nn.Linear(8, 8, bias=False)
    for taken, wanted in ((512, 512), (100, 256)):
        with patch.object(
            torch.cuda, "host_memory_stats", lambda n=taken: {"allocated_bytes.current": n}
        ):
            assert other_tables([module], CUDA) == wanted


if __name__ == "__main__":
    tell(
        [
            files_that_are_read_whole_count_as_often_as_the_loader_has_them,
            tables_that_stay_on_the_host_are_counted_once,
            what_the_pinned_allocator_took_counts_where_it_is_more,
        ]
    )
