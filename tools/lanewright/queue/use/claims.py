"""What entries take for themselves: two that claim the same exclude each other."""

from collections.abc import Collection, Iterable, Sequence

from lanewright.errors import LanewrightError
from lanewright.queue.inputs import ChangeInput, Input
from lanewright.terminal import quoted


class ClaimError(LanewrightError):
    """Two entries of a lane claim the same.

    Args:
        claim: What they claim.
        first: The one that comes first.
        second: The other.
    """

    def __init__(self, claim: str, first: Input, second: Input) -> None:
        self._names = (first.name, second.name)
        super().__init__(
            f"{second.place} ({second.name}) claims {claim!r}, and so does {first.place}"
            f" ({first.name}); only one of them can be carried",
            hint="take one of the two out of the series",
        )

    def of_add(
        self, typed: Sequence[str], added: Collection[str], option: str, lane: str
    ) -> LanewrightError:
        """The same of an ``add``, with what to drop for it.

        Args:
            typed: The parts that were to be added.
            added: The entries that they are of.
            option: What else was typed.
            lane: What of that names the lane.
        """
        others = [name for name in self._names if name not in added]
        told = f"{self}\nnothing is written"
        if not others:
            return LanewrightError(told, hint="add one of the two")
        again = f"lanewright add {' '.join(map(quoted, typed))}{option}"
        drop = f"lanewright drop {quoted(others[0])}{lane}"
        return LanewrightError(
            told, hint=f"{drop}, then {again}; or choose parts that do not claim it"
        )


def require_apart(inputs: Iterable[Input]) -> None:
    """See that no two entries of a lane claim the same.

    Raises:
        ClaimError: Two do.
    """
    holders: dict[str, Input] = {}
    for given in inputs:
        for claim in given.claims if isinstance(given, ChangeInput) else ():
            other = holders.setdefault(claim, given)
            if other is not given:
                raise ClaimError(claim, other, given)
