"""Acts on a CUDA device, timed by its own clock in an order drawn anew for each block."""

import random
from collections.abc import Callable, Mapping
from typing import Any

import torch

WARM_UP = 10
Act = Callable[[], object]


def in_turns(acts: Mapping[str, Act], blocks: int) -> tuple[dict[str, list[float]], int]:
    """Time each act once a block.

    Returns:
        Milliseconds by its name, and how often each ran, the warm-up included.
    """
    draw = random.Random(20261130)  # noqa: S311 - no secret
    times: dict[str, list[float]] = {name: [] for name in acts}
    for number in range(WARM_UP + blocks):
        for name in draw.sample(list(acts), len(acts)):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda.synchronize()
            start.record()
            acts[name]()
            end.record()
            end.synchronize()
            if number >= WARM_UP:
                times[name].append(start.elapsed_time(end))
    return times, WARM_UP + blocks


def captured(body: Act) -> Any:  # noqa: ANN401 - torch's graph
    """Run once, so that the kernel is compiled; then capture."""
    body()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        body()
    return graph
