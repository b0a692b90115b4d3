"""Which cores each side of a comparison keeps to, so that both can run at once."""

import os
from pathlib import Path
from typing import TypeAlias

from expert_bank.proc import sizes_of, text_of
from lanewright.project import Device
from lanewright.serve.named_files import files_of

# Counted from 0, among those that this process may use.
Cores: TypeAlias = tuple[int, ...]
MEMINFO = Path("/proc/meminfo")
# Of an engine beside its model, in bytes: what it imports, its cache of keys and values, and room to load.
BESIDE = 3 * 2**30
# A model is there twice while it is loaded.
LOADING = 2


def shares(device: Device, model: Path, meminfo: Path = MEMINFO) -> tuple[Cores, Cores] | None:
    """Halve the cores between two sides; None where they run one after another, on all cores.

    That is on a GPU, where there is one core, and where memory has no room for both.

    Args:
        device: What the lane runs on.
        model: Folder of its model.
        meminfo: Where the kernel tells how much memory is available.

    Raises:
        OSError: The model cannot be read.
    """
    half = len(os.sched_getaffinity(0)) // 2
    if device != "cpu" or not half:
        return None
    size = sum(file.stat().st_size for file in files_of(model))
    if sizes_of(text_of(meminfo) or "").get("MemAvailable", 0) < 2 * (LOADING * size + BESIDE):
        return None
    return tuple(range(half)), tuple(range(half, 2 * half))


def as_many(cores: int | None) -> Cores | None:
    """The first of the cores, as many as an engine kept to; None for all.

    Threads share a sum: on another number of them the last bits of an answer may be others.
    """
    return None if cores is None else tuple(range(cores))
