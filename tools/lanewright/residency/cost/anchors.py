"""Two measurements of one lane whose maps alone differ, as seconds of a step."""

from dataclasses import dataclass

from lanewright.residency.cost.machine_file import Anchors


@dataclass(frozen=True)
class Saved:
    """What the better map saved.

    Attributes:
        users: At once.
        before: Tokens a second of all of them before.
        after: And after.
        ratio: The one by the other.
        gain: How much more that is, as a share.
        before_step: Seconds of a step before.
        after_step: And after.
        seconds: What was saved of a step.
    """

    users: int
    before: float
    after: float
    ratio: float
    gain: float
    before_step: float
    after_step: float
    seconds: float


def accepted(anchors: Anchors, step: float) -> float:
    """Tokens of one user that a step accepts: its tokens a second x seconds of its step.

    Args:
        anchors: The measurements.
        step: Seconds of a decode step of one user, after.
    """
    return anchors.speeds[1][1] * step


def saved(anchors: Anchors, step: float) -> dict[int, Saved]:
    """Turn speeds into seconds of a step, by users.

    A user gets as many tokens of a step as one user alone does: it is taken to be the same with any
    number of them, before and after, for the tokens are the same.

    Args:
        anchors: The measurements.
        step: Seconds of a decode step of one user, after.
    """
    each = accepted(anchors, step)
    found = {}
    for users, (before, after) in sorted(anchors.speeds.items()):
        steps = users * each / before, users * each / after
        found[users] = Saved(
            users=users,
            before=before,
            after=after,
            ratio=after / before,
            gain=after / before - 1,
            before_step=steps[0],
            after_step=steps[1],
            seconds=steps[0] - steps[1],
        )
    return found
