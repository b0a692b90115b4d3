"""The two forms of MoE-Infinity, and what may be set of either."""

from dataclasses import dataclass
from typing import Literal

Variant = Literal["paper", "code"]


@dataclass(frozen=True)
class Settings:
    """How experts are predicted, prefetched and evicted.

    Attributes:
        variant: ``paper``: evicted is what the prediction makes worth least, and a full collection
            replaces the EAM nearest to the new one. ``code``, as the paper's published code does:
            evicted is what the fewest forwards have picked, and replaced the EAM that was accessed
            least.
        capacity: EAMs of each collection; about 120 gave the paper all that more would.
        nearest: EAMs that a prediction sums.
        ahead: Prefetches that are on the link at once, at most. Those behind them wait where the
            next layer can still reorder them.
        step_rows: Rows that one step picks; a buffer of fewer gets no prefetch. None for those of
            one token, k in each layer.
    """

    variant: Variant = "paper"
    capacity: int = 120
    nearest: int = 1
    ahead: int = 1
    step_rows: int | None = None

    def __post_init__(self) -> None:
        if min(self.capacity, self.nearest, self.ahead) < 1:
            raise ValueError(f"capacity, nearest and ahead are above 0, and this is {self}")
