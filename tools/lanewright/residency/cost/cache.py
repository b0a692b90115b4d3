"""Whether a layer's cold bytes of a step fit in the device's last cache."""

from collections.abc import Mapping
from dataclasses import dataclass

from lanewright.residency.cost.model import Model
from lanewright.residency.cost.step_reads import Reading, cold_rows

MOST_USERS = 4096


@dataclass(frozen=True)
class Cache:
    """Cold bytes of a layer against the cache.

    Attributes:
        bytes: Of the cache.
        over_from: By share, the number of users from which on a layer's cold bytes are more; None where
            no number of users is enough.
    """

    bytes: int
    over_from: dict[str, int | None]


def cache(model: Model, reading: Reading, shares: Mapping[str, float], size: int) -> Cache:
    """Find where repeated reads stop being the cache's.

    Args:
        model: Whose rows they are.
        reading: What a step reads.
        shares: Of picks that are cold, by name.
        size: Bytes of the cache.
    """
    return Cache(size, {name: _over(model, reading, each, size) for name, each in shares.items()})


def _over(model: Model, reading: Reading, share: float, size: int) -> int | None:
    layers = sum(rows > 0 for rows in model.cold) or 1

    def bytes_of(users: int) -> float:
        return cold_rows(model, reading, users, share) / layers * model.row

    if bytes_of(MOST_USERS) <= size:
        return None
    low, high = 0, MOST_USERS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bytes_of(middle) <= size else (low, middle)
    return high
