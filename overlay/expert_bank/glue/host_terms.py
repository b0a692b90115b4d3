# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What else takes host memory: tables that the model keeps there, and files that are read whole."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import snapshot_download
from vllm.logger import init_logger

from expert_bank.glue.built import unpinned_bytes

logger = init_logger(f"vllm.{__name__}")

# Seen of vLLM's eager strategy: the file before, this one's bytes, and its tensors.
EAGER_TIMES = 3


def other_tables(built: Iterable[torch.nn.Module], device: torch.device) -> int:
    """Sum up what a model that is built has in host memory beside its experts, as Engram tables.

    vLLM maps some of them and registers the mapping with the device, and takes others from torch's pinned
    allocator. That one rounds a block up to a power of two: what it took counts, not what was asked for.

    Args:
        built: Its modules.
        device: That serves; on the CPU all of it is the device's.

    Returns:
        Bytes.
    """
    if device.type == "cpu":
        return 0
    taken: int = torch.cuda.host_memory_stats().get("allocated_bytes.current", 0)
    return unpinned_bytes(built) + taken


def loader_bytes(load_config: Any, model: str, revision: str | None = None) -> int:  # noqa: ANN401 - vLLM's
    """Tell what the loader reads into memory at once; mapped files are the page cache's, which gives way.

    Args:
        load_config: The worker's.
        model: A folder, or a name whose files are in the hub's cache by now.
        revision: Of a name; None for the branch main.

    Returns:
        Bytes; 0 for mapped files, and, with a warning, where the files are not found.
    """
    if load_config.safetensors_load_strategy != "eager":
        return 0
    folder = Path(model)
    if not folder.is_dir():
        with suppress(OSError, ValueError):
            cache = {"cache_dir": load_config.download_dir, "local_files_only": True}
            folder = Path(snapshot_download(model, revision=revision, **cache))
    files = [each.stat().st_size for each in folder.glob("*.safetensors")]
    if not files:
        logger.warning(
            "expert_bank: the loader reads each safetensors file of %s whole, and none is found here:"
            " host memory for the largest, %d times, is in no plan",
            model,
            EAGER_TIMES,
        )
    return EAGER_TIMES * max(files, default=0)
