# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What a token takes of the KV cache, by vLLM's own account of each layer."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class KvToken:
    """A token of a request of the greatest length, which is what vLLM tells its cache's size in.

    Attributes:
        bytes: Of all layers together; None where no layer has a cache.
        packed: Whether the layers' caches differ: then vLLM packs them side by side, once it has
            chosen a layout, and a token takes as much or more.
    """

    bytes: Fraction | None
    packed: bool


def kv_token(worker: Any) -> KvToken:  # noqa: ANN401 - vLLM's
    """Ask the layers of a worker's model, which are built and may not be loaded."""
    config = worker.vllm_config
    specs = list(worker.model_runner.get_kv_cache_spec().values())
    whole = sum(_of_request(each, config) for each in specs)
    length = config.model_config.max_model_len
    kinds = {_kind(each) for each in specs}
    return KvToken(Fraction(whole, length) if whole else None, packed=len(kinds) > 1)


def _of_request(spec: Any, config: Any) -> int:  # noqa: ANN401 - vLLM's
    """Bytes that a request of the greatest length takes of a layer's cache."""
    size: int = spec.max_memory_usage_bytes(config)
    return size


def _kind(spec: Any) -> tuple[type, int, int]:  # noqa: ANN401 - vLLM's
    """Tell apart what vLLM cannot put into one table of blocks."""
    return type(spec), spec.block_size, spec.page_size_bytes
