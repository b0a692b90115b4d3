"""What policies are compared on."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from lanewright.residency.infinity.settings import Settings
from lanewright.residency.trace import Map, require_room
from lanewright.residency.trace_file.recorded import TOKEN_COLUMNS, Recorded

# GB/s: PCIe 4.0 as the paper on MoE-Infinity has it in one place and in another, and the link
# between the two chips of a Grace Hopper.
LINKS = (24.0, 32.0, 340.0)


@dataclass(frozen=True)
class Setting:
    """One trace, rows, and a machine.

    Attributes:
        trace: The picks.
        boot: bool[L, E], the map at the start.
        rows: H of each layer; a buffer that all layers share has their sum.
        row: Bytes of one expert.
        links: GB/s of each link that is tried.
        step_seconds: That a forward computes; prefetches are hidden behind it.
        buffer: Rows of MoE-Infinity's buffer; None for the sum of ``rows``.
        infinity: Settings of MoE-Infinity; the variant is each policy's own.
        seed: Of the map at random.
        past: Requests before the trace, which MoE-Infinity has seen; None for none.
    """

    trace: Recorded
    boot: Map
    rows: tuple[int, ...]
    row: int
    links: tuple[float, ...] = LINKS
    step_seconds: float = 0.015
    buffer: int | None = None
    infinity: Settings = field(default_factory=Settings)
    seed: int = 0
    past: Recorded | None = None

    def __post_init__(self) -> None:
        require_room(self.trace.ids, self.boot, self.rows)
        if self.row < 1 or not self.links or min(self.links) <= 0 or self.step_seconds < 0:
            raise ValueError(f"rows of {self.row} bytes, links {self.links}, {self.step_seconds} s")

    @property
    def shared_rows(self) -> int:
        """Rows of a buffer that all layers share."""
        return sum(self.rows) if self.buffer is None else self.buffer


def selected(found: Recorded, tokens: slice | NDArray[np.bool_]) -> Recorded:
    """Give some tokens of a trace."""
    columns = {name: getattr(found, name)[tokens] for name in TOKEN_COLUMNS}
    weights = None if found.weights is None else found.weights[tokens]
    hidden = None if found.hidden is None else found.hidden[tokens]
    return replace(found, ids=found.ids[tokens], weights=weights, hidden=hidden, **columns)


def ended(found: Recorded, token: int) -> Recorded:
    """Give the tokens in front of one whose requests have none from there on."""
    over = ~np.isin(found.request, found.request[token:])
    return selected(found, over)


def learned_tokens(found: Recorded, share: float) -> int:
    """Tell where to cut a trace so that what is in front has a share of its tokens.

    Returns:
        The first token of a forward, or T.
    """
    if share <= 0:
        return 0
    wanted = share * found.tokens
    place = int(np.searchsorted(np.arange(found.tokens), wanted))
    if place >= found.tokens:
        return found.tokens
    return int(np.searchsorted(found.forward, found.forward[place]))
