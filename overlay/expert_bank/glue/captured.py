# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Whether a step is replayed from a graph, which reads what it was captured with."""

from typing import Any

from vllm.config import CUDAGraphMode


def captured(vllm_config: Any, tokens: int) -> bool:  # noqa: ANN401 - vLLM's
    """Tell whether a step of so many tokens may be replayed: whether one of its size is captured.

    A step that is none in the end, as a mixed one where only decode steps are captured, is told as one: it
    is read in place, and right.
    """
    return tokens <= most_captured(vllm_config)


def most_captured(vllm_config: Any) -> int:  # noqa: ANN401 - the same
    """Tell up to how many tokens a step may be replayed; 0 where none is."""
    compilation = vllm_config.compilation_config
    if compilation.cudagraph_mode in (None, CUDAGraphMode.NONE):
        return 0
    most: int = compilation.max_cudagraph_capture_size or 0
    return most
