"""Times as people read them."""

from collections.abc import Sequence

# Below these a smaller unit is easier to read.
MILLISECOND, SECOND = 1e-3, 1.0
# From here on a share of a step is told as a multiple of it.
DOUBLE = 2.0
# So many digits tell a value apart from its neighbours in the tables.
SMALL, LARGE = 10, 100


def time(seconds: float) -> str:
    """Write a time with its unit: ``55.3 us``, ``3.18 ms``."""
    if seconds < MILLISECOND:
        return _digits(seconds * 1e6, "us")
    return _digits(seconds * 1e3, "ms") if seconds < SECOND else _digits(seconds, "s")


def times(seconds: Sequence[float]) -> str:
    """Write a range of times, from the shortest on."""
    low, high = (time(each) for each in seconds)
    number, unit = low.split(" ")
    return f"{number if high.endswith(f' {unit}') else low} to {high}"


def of_step(share: float | None) -> str:
    """Write a share of a step; a multiple of it where that is easier to read."""
    share = share or 0.0
    return f"{share:.0%}" if share < DOUBLE else f"{share:.1f} times"


def _digits(value: float, unit: str) -> str:
    places = 2 if value < SMALL else 1 if value < LARGE else 0
    return f"{value:.{places}f} {unit}"
