"""What a policy came to on a trace."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanewright.residency.trace import Picks


@dataclass(frozen=True, eq=False)
class Outcome:
    """One policy's.

    Attributes:
        policy: Its name.
        cold: int64[T, L], cold picks.
        demanded: int64[F], rows that each forward read or copied because it missed them.
        ahead: int64[F], rows that were copied before anything asked for them: prefetches of this
            forward, or swaps right before it.
        wasted: Rows of these that nothing picked while they were hot.
        stall: Of each link, in GB/s, the seconds that each forward waited for rows: float64[F].
        swaps: That the policy made, or None where it makes none.
    """

    policy: str
    cold: Picks
    demanded: Picks
    ahead: Picks
    wasted: int
    stall: Mapping[float, NDArray[np.float64]]
    swaps: int | None = None

    @property
    def moved(self) -> int:
        """Rows that went over the link."""
        return int(self.demanded.sum() + self.ahead.sum())


def waited(rows: Picks, row: int, links: tuple[float, ...]) -> dict[float, NDArray[np.float64]]:
    """Tell what forwards wait that find the link free, and send nothing ahead.

    Args:
        rows: int64[F].
        row: Bytes of one.
        links: GB/s.

    Returns:
        float64[F] of each link, in seconds.
    """
    seconds = rows.astype(np.float64) * row
    return {link: seconds / (link * 1e9) for link in links}
