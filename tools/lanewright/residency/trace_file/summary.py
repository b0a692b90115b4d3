"""What a trace has, as values that JSON can carry and as lines for people."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from lanewright.residency.trace import counted
from lanewright.residency.trace_file.recorded import PHASES, Recorded


def facts(found: Recorded) -> dict[str, Any]:
    """Tell a trace."""
    counts = counted(found.ids, found.experts)
    best = np.sort(counts, axis=1)[:, ::-1]
    half = (np.cumsum(best, axis=1) * 2 < best.sum(axis=1, keepdims=True)).sum(axis=1) + 1
    return {
        "schema": 1,
        "model": found.model,
        "layers": len(found.layers),
        "experts": found.experts,
        "picks_per_token": found.picks,
        "tokens": found.tokens,
        "picks": int(found.ids.size),
        "requests": len({*found.request.tolist()}),
        "forwards": len({*found.forward.tolist()}),
        "phases": {name: int((found.phase == number).sum()) for number, name in enumerate(PHASES)},
        "rejected": int((~found.accepted).sum()),
        "weights": found.weights is not None,
        "hidden_size": found.hidden_size,
        "never_picked": (counts == 0).sum(axis=1).tolist(),
        "experts_of_half_the_picks": half.tolist(),
    }


def lines(told: dict[str, Any]) -> Iterator[str]:
    """Tell it to people."""
    yield f"model     {told['model'] or 'not said'}"
    yield (
        f"shape     {told['layers']} layers of {told['experts']} experts,"
        f" {told['picks_per_token']} a token"
    )
    yield (
        f"traffic   {told['tokens']} tokens of {told['requests']} requests in"
        f" {told['forwards']} forwards, {told['picks']} picks"
    )
    phases = ", ".join(f"{many} {name}" for name, many in told["phases"].items() if many)
    yield f"phases    {phases}; {told['rejected']} drafts were rejected"
    hidden = (
        f"hidden states of {told['hidden_size']}" if told["hidden_size"] else "no hidden states"
    )
    yield f"beside    {'weights' if told['weights'] else 'no weights'}, {hidden}"
    half, never = told["experts_of_half_the_picks"], told["never_picked"]
    yield (
        f"skew      half of a layer's picks are of {min(half)} to {max(half)} experts;"
        f" {min(never)} to {max(never)} are never picked"
    )
