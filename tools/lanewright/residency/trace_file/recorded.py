"""A trace with what is known of each token: its forward, request, position and phase."""

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from lanewright.residency.trace import require_trace

PHASES = ("prefill", "decode", "verify")
PREFILL, DECODE, VERIFY = range(len(PHASES))
# Ids are 16 bits wide.
MOST_EXPERTS = 2**16


@dataclass(frozen=True, eq=False)
class Recorded:
    """Picks of an engine, token by token in the order in which they were scheduled.

    Attributes:
        model: Hash of the model that was served.
        layers: Names of the L MoE layers, in the model's order.
        experts: E of every layer.
        ids: uint16[T, L, k], logical experts.
        forward: int64[T], the forward in which a token was; never falls.
        request: int64[T], whose token it is.
        position: int64[T], its place in the request, prompt included, from 0 on; a draft that was
            rejected leaves its position to another forward.
        phase: uint8[T], number in ``PHASES``, as the scheduler had it. All tokens of a request
            in one forward have one.
        accepted: bool[T], False for a draft under verify that was rejected.
        weights: float32[T, L, k], the router's; None where they were not kept.
        hidden: float16[T, L, h], the residual stream as it enters each layer, before attention; the
            same.
    """

    model: str
    layers: tuple[str, ...]
    experts: int
    ids: NDArray[np.uint16]
    forward: NDArray[np.int64]
    request: NDArray[np.int64]
    position: NDArray[np.int64]
    phase: NDArray[np.uint8]
    accepted: NDArray[np.bool_]
    weights: NDArray[np.float32] | None = None
    hidden: NDArray[np.float16] | None = None

    @property
    def tokens(self) -> int:
        """T."""
        return len(self.ids)

    @property
    def picks(self) -> int:
        """Experts of a token in one layer, k."""
        return int(self.ids.shape[2])

    @property
    def hidden_size(self) -> int:
        """Numbers of one hidden state, h; 0 where none were kept."""
        return 0 if self.hidden is None else int(self.hidden.shape[-1])


TOKEN_COLUMNS = {
    "forward": np.dtype(np.int64),
    "request": np.dtype(np.int64),
    "position": np.dtype(np.int64),
    "phase": np.dtype(np.uint8),
    "accepted": np.dtype(np.bool_),
}


def require_recorded(found: Recorded) -> None:
    """Refuse what no engine schedules.

    Raises:
        ValueError: Of ids what ``trace.require_trace`` refuses; another shape or type; or tokens
            that are out of order, there twice, in two phases, or rejected outside of verify.
    """
    for fault in _faults(found):
        raise ValueError(fault)
    require_trace(found.ids, found.experts)


def _faults(found: Recorded) -> Iterator[str]:
    ids = found.ids
    if not found.layers or len(set(found.layers)) != len(found.layers):
        yield "it names no layer, or one of them twice"
    if not 1 <= found.experts <= MOST_EXPERTS:
        yield f"it has {found.experts} experts, and there are 1 to {MOST_EXPERTS}"
    if ids.dtype != np.uint16 or ids.ndim != 3 or ids.shape[1] != len(found.layers):  # noqa: PLR2004 - T, L, k
        yield f"its ids are {ids.dtype}{list(ids.shape)}, and must be uint16[T, {len(found.layers)}, k]"
    yield from _wrong_shapes(found)
    if (np.diff(found.forward) < 0).any():
        yield "its forwards are out of order"
    if any((column < 0).any() for column in (found.forward, found.request, found.position)):
        yield "a forward, request or position is below 0"
    if (found.phase >= len(PHASES)).any():
        yield f"a phase is {found.phase.max()}, and there are 0 to {len(PHASES) - 1}"
    if (~found.accepted & (found.phase != VERIFY)).any():
        yield "a token is rejected, and was no draft under verify"
    yield from _together(found)


def _wrong_shapes(found: Recorded) -> Iterator[str]:
    for name, dtype in TOKEN_COLUMNS.items():
        column = getattr(found, name)
        if column.dtype != dtype or column.shape != (found.tokens,):
            told = f"{column.dtype}{list(column.shape)}"
            yield f"its {name} is {told}, and must be {dtype}[{found.tokens}]"
    weights, hidden = found.weights, found.hidden
    if weights is not None:
        if weights.dtype != np.float32 or weights.shape != found.ids.shape:
            yield f"its weights are {weights.dtype}{list(weights.shape)}"
        if not np.isfinite(weights).all():
            yield "a weight is no finite number"
    if hidden is not None:
        wanted = (*found.ids.shape[:2], found.hidden_size)
        if hidden.dtype != np.float16 or hidden.shape != wanted:
            yield f"its hidden states are {hidden.dtype}{list(hidden.shape)}"
        if not np.isfinite(hidden).all():
            yield "a hidden state is no finite number"


def _together(found: Recorded) -> Iterator[str]:
    """What is wrong with the tokens of one forward."""
    order = np.lexsort((found.position, found.request, found.forward))
    one, other = order[:-1], order[1:]
    same = (found.forward[one] == found.forward[other]) & (
        found.request[one] == found.request[other]
    )
    twice = same & (found.position[one] == found.position[other])
    for what, where in (
        ("is there twice", twice),
        (
            "is in another phase than the one before it",
            same & (found.phase[one] != found.phase[other]),
        ),
    ):
        if where.any():
            token = other[where.argmax()]
            yield (
                f"position {found.position[token]} of request {found.request[token]} {what}"
                f" in forward {found.forward[token]}"
            )


def same(one: Recorded, other: Recorded) -> bool:
    """Tell whether two traces are equal, bit by bit."""
    return all(
        _equal(getattr(one, field.name), getattr(other, field.name)) for field in fields(Recorded)
    )


def _equal(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return type(one) is type(other) and one == other
