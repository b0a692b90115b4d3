"""Traces with requests: what an engine would have recorded of traffic."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewright.residency.trace_file.recorded import DECODE, PREFILL, VERIFY, Recorded
from tests.residency import traffic


def recorded(ids: NDArray[np.integer], experts: int, **columns: Any) -> Recorded:  # noqa: ANN401 - columns
    """One request that is decoded token by token, but for what ``columns`` say."""
    tokens, layers, _ = ids.shape
    told: dict[str, Any] = {
        "forward": np.arange(tokens),
        "request": np.zeros(tokens, np.int64),
        "position": np.arange(tokens),
        "phase": np.full(tokens, DECODE, np.uint8),
        "accepted": np.ones(tokens, np.bool_),
    }
    names = tuple(f"layers.{layer}.mlp" for layer in range(layers))
    return Recorded("hash", names, experts, ids.astype(np.uint16), **(told | columns))


def mixed() -> Recorded:
    """Two requests in seven forwards: prefill of three and two tokens, drafts, a rejected one."""
    ids = traffic.matched(12, 3, 16, 2)
    told = [
        (0, 0, 0, PREFILL, 1),
        (0, 0, 1, PREFILL, 1),
        (0, 0, 2, PREFILL, 1),
        (1, 0, 3, DECODE, 1),
        (1, 1, 0, PREFILL, 1),
        (1, 1, 1, PREFILL, 1),
        (2, 0, 4, VERIFY, 1),
        (2, 0, 5, VERIFY, 0),
        (2, 1, 2, DECODE, 1),
        (3, 0, 5, DECODE, 1),
        (5, 1, 3, DECODE, 1),
        (6, 1, 4, DECODE, 1),
    ]
    forward, request, position, phase, accepted = np.array(told).T
    return recorded(
        ids,
        16,
        forward=forward,
        request=request,
        position=position,
        phase=phase.astype(np.uint8),
        accepted=accepted.astype(np.bool_),
    )


def weighted(found: Recorded) -> Recorded:
    """The same with the router's weights."""
    weights = traffic.drawn((3,), found.ids.shape).astype(np.float32)
    return replace(found, weights=weights)


def with_hidden(found: Recorded, size: int) -> Recorded:
    """The same with hidden states."""
    states = traffic.drawn((4,), (*found.ids.shape[:2], size)).astype(np.float16)
    return replace(found, hidden=states)
