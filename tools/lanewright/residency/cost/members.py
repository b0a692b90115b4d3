"""One choice of tokens, overlap and skew, held against what was measured."""

from collections.abc import Mapping
from dataclasses import dataclass

from lanewright.residency.cost.anchors import Saved
from lanewright.residency.cost.cold_sets import Rows
from lanewright.residency.cost.crossing import crossing
from lanewright.residency.cost.step_reads import Reading

# Of what was measured: as near as a solver comes.
EXACT = 1e-6
# Beyond the stated range tokens are looked for up to so many times its end, to be told of.
BEYOND = 4


@dataclass(frozen=True)
class Member:
    """A choice, and what it says was saved.

    Attributes:
        reading: The choice.
        solved: What of it was solved for on one user: ``tokens``, ``overlap``; empty for nothing.
        fits: Whether it gives what was measured with one user.
        in_range: Whether it lies in the stated range.
        saved: Seconds of a step, by users; of all but one user a prediction.
        error: That against what was measured, as a share.
        more_than_step: Users with whom the cold reads before would take longer than the whole step did.
    """

    reading: Reading
    solved: str
    fits: bool
    in_range: bool
    saved: dict[int, float]
    error: dict[int, float]
    more_than_step: list[int]


@dataclass(frozen=True)
class Held:
    """What a choice is held against.

    Attributes:
        rows: What a step reads, before and after.
        link_row: Seconds of a row over the link.
        measured: By users; of one user, too.
        range: Tokens of one user that a step computes, from and to.
    """

    rows: Rows
    link_row: float
    measured: Mapping[int, Saved]
    range: tuple[float, float]

    def member(self, reading: Reading, solved: str = "") -> Member:
        """Tell what a choice says.

        Args:
            reading: It.
            solved: See ``Member``.
        """
        saved, error, more = {}, {}, []
        for users, each in self.measured.items():
            before, after = self.rows(reading, users)
            exposed = (1 - reading.overlap) * self.link_row
            saved[users] = exposed * (before - after)
            error[users] = saved[users] / each.seconds - 1
            if exposed * before > each.before_step:
                more.append(users)
        low, high = self.range
        inside = low <= reading.tokens <= high and 0 <= reading.overlap < 1
        return Member(reading, solved, abs(error[1]) < EXACT, inside, saved, error, more)

    def with_tokens(self, skew: float) -> Member | None:
        """Solve for tokens, with no overlap; None where no number gives what one user saved.

        Args:
            skew: Of the picks.
        """
        low, high = self.range
        found = crossing(lambda each: self._missing(Reading(each, 0.0, skew)), low, BEYOND * high)
        return None if found is None else self.member(Reading(found, 0.0, skew), "tokens")

    def with_overlap(self, tokens: float, skew: float) -> Member | None:
        """Solve for overlap; None where even all of the time is too little.

        Args:
            tokens: Of one user that a step computes.
            skew: Of the picks.
        """
        before, after = self.rows(Reading(tokens, 0.0, skew), 1)
        whole = (before - after) * self.link_row
        if whole < self.measured[1].seconds:
            return None
        overlap = 1 - self.measured[1].seconds / whole
        return self.member(Reading(tokens, overlap, skew), "overlap")

    def _missing(self, reading: Reading) -> float:
        before, after = self.rows(reading, 1)
        return (before - after) * self.link_row - self.measured[1].seconds
