"""Where a function first reaches 0."""

from collections.abc import Callable

# Seen closer than any crossing that matters here; halved as often as a float can tell.
SAMPLES, HALVES = 400, 60


def crossing(function: Callable[[float], float], low: float, high: float) -> float | None:
    """Find the smallest argument at which a function changes its sign.

    It need not be monotone: what a better map saves rises with the tokens of a step and falls again
    once both maps' cold experts are all read.

    Args:
        function: Of one argument; continuous.
        low: The smallest argument.
        high: The largest.

    Returns:
        The argument; None where the sign is the same at each of many samples.
    """
    places = [low + (high - low) * n / SAMPLES for n in range(SAMPLES + 1)]
    values = [function(each) for each in places]
    for n, value in enumerate(values):
        if value == 0:
            return places[n]
        if n and (values[n - 1] < 0) != (value < 0):
            return _halved(function, places[n - 1], places[n])
    return None


def _halved(function: Callable[[float], float], low: float, high: float) -> float:
    below = function(low) < 0
    for _ in range(HALVES):
        middle = (low + high) / 2
        low, high = (middle, high) if (function(middle) < 0) == below else (low, middle)
    return (low + high) / 2
