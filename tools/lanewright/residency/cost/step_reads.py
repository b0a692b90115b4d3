"""Cold reads of a step: the different experts that all of its tokens pick."""

from collections import Counter
from dataclasses import dataclass

from lanewright.residency.cost.distinct import distinct, odds
from lanewright.residency.cost.model import Model


@dataclass(frozen=True)
class Reading:
    """What the cold reads of a step follow from, beside the model.

    Attributes:
        tokens: Of one user that a step computes, T: a draft's under verify too.
        overlap: Share of the time over the link that is hidden behind computing.
        skew: Zipf's exponent of picks among a layer's cold experts; 0 is uniform.
    """

    tokens: float
    overlap: float = 0.0
    skew: float = 0.0


@dataclass(frozen=True)
class StepReads:
    """What a step reads of cold experts.

    Attributes:
        users: Whose tokens it has.
        draws: Cold picks of a layer, in the mean.
        layer_rows: Different cold experts of a layer, in the mean.
        rows: Of all layers.
        bytes: Of them.
        layer_bytes: Of a layer's.
        picks_per_row: How often one of them was picked, in the mean.
        seconds: Over the link, what is hidden left out.
        step: Seconds of the step; None where they are not said.
        of_step: The one as a share of the other.
    """

    users: int
    draws: float
    layer_rows: float
    rows: float
    bytes: float
    layer_bytes: float
    picks_per_row: float
    seconds: float
    step: float | None
    of_step: float | None


def cold_rows(model: Model, reading: Reading, users: float, share: float) -> float:
    """Expect the different cold experts of all layers in a step.

    Args:
        model: Its layers, picks and cold experts.
        reading: See there.
        users: In the step.
        share: Of picks that are cold, in each layer alike.
    """
    draws = model.picks * reading.tokens * users * share
    return sum(
        layers * distinct(odds(cold, reading.skew), draws)
        for cold, layers in Counter(model.cold).items()
        if cold
    )


def step_reads(
    model: Model, reading: Reading, users: int, share: float, link_row: float, step: float | None
) -> StepReads:
    """Price the cold reads of a step.

    Args:
        model: See ``cold_rows``.
        reading: See there.
        users: In the step.
        share: Of picks that are cold.
        link_row: Seconds of a row over the link.
        step: Seconds of the step; None where they are not said.
    """
    draws = model.picks * reading.tokens * users * share
    rows = cold_rows(model, reading, users, share)
    layers = sum(rows > 0 for rows in model.cold) or 1
    seconds = (1 - reading.overlap) * rows * link_row
    return StepReads(
        users=users,
        draws=draws,
        layer_rows=rows / layers,
        rows=rows,
        bytes=rows * model.row,
        layer_bytes=rows / layers * model.row,
        picks_per_row=draws * layers / rows if rows else 0.0,
        seconds=seconds,
        step=step,
        of_step=step and seconds / step,
    )
