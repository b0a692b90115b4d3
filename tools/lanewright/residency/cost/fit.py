"""Fits tokens, overlap and skew on one user, and predicts the others.

One equation leaves a family of the three: some of it is told, each member with its predictions and
their errors, and beside them what even the best member, chosen behind the others' backs, would be off by.
"""

from dataclasses import dataclass

from lanewright.residency.cost.anchors import Saved, accepted, saved
from lanewright.residency.cost.cold_sets import (
    MOST_SKEW,
    of_each_layer,
    of_whole_layers,
    skew_of_usage,
)
from lanewright.residency.cost.machine_file import Anchors
from lanewright.residency.cost.members import Held, Member
from lanewright.residency.cost.model import Model
from lanewright.residency.cost.step_reads import Reading

SKEWS = (0.5, 1.0, 1.5, 2.0)
# In how many steps the range is gone through for the best member.
TOKEN_STEPS, SKEW_STEPS = 48, 40


@dataclass(frozen=True)
class Fit:
    """Readings held against two measurements.

    Attributes:
        accepted: Tokens of one user that a step accepts.
        range: Tokens of one user that a step computes, from and to: what was searched.
        source: Where its end is from.
        measured: What the better map saved, by users.
        removed: Share of cold picks that it removed.
        one_token: Seconds that one token's picks say it saved of a step.
        at_accepted: The reading with as many tokens as a step accepts, and nothing fitted.
        fitted: The fit: tokens solved for, no overlap, no skew; None where no number of tokens does.
        asked: The choice that was asked for, nothing fitted; None where none was.
        family: Other members that fit one user as well.
        best: Of all members in the range, the one that is least off with the others; no prediction.
        usage_skew: That of a whole layer's picks, by what the cold experts get after.
        layers_at_most: Whole layers cold before, that skew, tokens at the range's end, nothing fitted.
        layers_fitted: The same, with tokens solved for.
    """

    accepted: float
    range: tuple[float, float]
    source: str
    measured: dict[int, Saved]
    removed: float
    one_token: float
    at_accepted: Member
    fitted: Member | None
    asked: Member | None
    family: list[Member]
    best: Member | None
    usage_skew: float | None
    layers_at_most: Member | None
    layers_fitted: Member | None

    @property
    def tokens(self) -> float | None:
        """Tokens of one user that a step computes, where the fit lies in the range."""
        return self.fitted.reading.tokens if self.fitted and self.fitted.in_range else None


def fit(
    model: Model, anchors: Anchors, step: float, link_row: float, asked: Reading | None = None
) -> Fit:
    """Hold the arithmetic of steps against two measurements.

    Args:
        model: Of the lane that was measured.
        anchors: The measurements.
        step: Seconds of a decode step of one user, after.
        link_row: Seconds of a row over the link.
        asked: A choice of tokens, overlap and skew to hold against them, too.
    """
    least, measured = accepted(anchors, step), saved(anchors, step)
    range_ = least, max(least, anchors.tokens_most)
    held = Held(of_each_layer(model, anchors), link_row, measured, range_)
    skewed = [held.with_tokens(skew) for skew in SKEWS]
    hidden = [held.with_overlap(range_[1], skew) for skew in (0.0, 1.0)]
    usage = skew_of_usage(model, anchors) if anchors.whole_layers else None
    layers = (
        None if usage is None else Held(of_whole_layers(model, anchors), link_row, measured, range_)
    )
    picks = model.layers * model.picks
    return Fit(
        accepted=least,
        range=range_,
        source=anchors.source,
        measured=measured,
        removed=1 - anchors.after / anchors.before,
        one_token=picks * (anchors.before - anchors.after) * link_row,
        at_accepted=held.member(Reading(least)),
        fitted=held.with_tokens(0.0),
        asked=None if asked is None else held.member(asked),
        family=[each for each in (*skewed, *hidden) if each],
        best=_best(held),
        usage_skew=usage,
        layers_at_most=layers.member(Reading(range_[1], 0.0, usage or 0.0)) if layers else None,
        layers_fitted=layers.with_tokens(usage or 0.0) if layers else None,
    )


def _best(held: Held) -> Member | None:
    """The member whose largest error with other users is smallest; None where none is there, or fits."""
    low, high = held.range
    others = [users for users in held.measured if users != 1]
    if not others:
        return None
    tried = (
        held.with_overlap(low + (high - low) * n / TOKEN_STEPS, MOST_SKEW * skew / SKEW_STEPS)
        for n in range(TOKEN_STEPS + 1)
        for skew in range(SKEW_STEPS + 1)
    )
    return min(
        (each for each in tried if each),
        key=lambda each: max(abs(each.error[users]) for users in others),
        default=None,
    )
