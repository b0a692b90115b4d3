"""Which experts were cold before and after: two readings of what is known of it."""

from collections import Counter
from collections.abc import Callable

from lanewright.residency.cost.crossing import crossing
from lanewright.residency.cost.distinct import distinct, odds
from lanewright.residency.cost.machine_file import Anchors
from lanewright.residency.cost.model import Model
from lanewright.residency.cost.step_reads import Reading, cold_rows

# Zipf's exponents that are looked at.
MOST_SKEW = 2.0
# Rows of a step with so many users, before and after.
Rows = Callable[[Reading, int], tuple[float, float]]


def of_each_layer(model: Model, anchors: Anchors) -> Rows:
    """Before and after as many experts of each layer are cold, and picked more or less often.

    Args:
        model: How many.
        anchors: How often.
    """

    def rows(reading: Reading, users: int) -> tuple[float, float]:
        before = cold_rows(model, reading, users, anchors.before)
        return before, cold_rows(model, reading, users, anchors.after)

    return rows


def of_whole_layers(model: Model, anchors: Anchors) -> Rows:
    """Before, all experts of some layers are cold; after, the least picked of each layer.

    A reading's skew is that of all experts of a layer here.

    Args:
        model: How many experts a layer has, and how many of them are cold after.
        anchors: The share of layers before, and of picks after.
    """

    def rows(reading: Reading, users: int) -> tuple[float, float]:
        each = odds(model.experts, reading.skew)
        draws = model.picks * reading.tokens * users
        before = anchors.before * model.layers * distinct(each, draws)
        after = 0.0
        for cold, layers in Counter(model.cold).items():
            tail = each[model.experts - cold :]
            if cold:
                after += layers * distinct(tail / tail.sum(), draws * anchors.after)
        return before, after

    return rows


def skew_of_usage(model: Model, anchors: Anchors) -> float | None:
    """Give the skew at which the cold experts, the least picked ones, get the share after.

    Args:
        model: How many of a layer's experts are cold.
        anchors: What they get.

    Returns:
        Zipf's exponent; None where none up to the largest gives that, or layers differ.
    """
    if len(set(model.cold)) > 1 or not 0 < model.cold[0] < model.experts:
        return None
    hot = model.hot[0]
    return crossing(
        lambda skew: float(odds(model.experts, skew)[hot:].sum()) - anchors.after, 0.0, MOST_SKEW
    )
