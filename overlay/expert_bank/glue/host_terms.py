# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What else takes host memory: tables that the model keeps there, and files that are read whole."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from expert_bank.glue.built import other_weights

# Seen of vLLM's eager strategy: the file before, this one's bytes, and its tensors.
EAGER_TIMES = 3
HOST = torch.device("cpu")


def other_tables(built: Iterable[torch.nn.Module], device: torch.device) -> int:
    """Sum up what a model that is built has in host memory beside its experts, as Engram tables.

    torch's pinned allocator rounds a block up to a power of two, and has more than was asked for: what it
    took counts, where that is more.

    Args:
        built: Its modules.
        device: That serves; on the CPU all of it is the device's.

    Returns:
        Bytes.
    """
    if device.type == "cpu":
        return 0
    taken: int = torch.cuda.host_memory_stats().get("allocated_bytes.current", 0)
    return max(other_weights(built, HOST), taken)


def loader_bytes(load_config: Any, model: str) -> int:  # noqa: ANN401 - vLLM's
    """Tell what the loader reads into memory at once; mapped files are the page cache's, which gives way.

    Args:
        load_config: The worker's.
        model: A folder, or a name whose files are not known yet.

    Returns:
        Bytes; 0 for mapped files.
    """
    if load_config.safetensors_load_strategy != "eager":
        return 0
    files = [each.stat().st_size for each in Path(model).glob("*.safetensors")]
    return EAGER_TIMES * max(files, default=0)
