"""What entries take for themselves: two that claim the same exclude each other."""

from collections.abc import Iterable

from lanewright.errors import LanewrightError
from lanewright.queue.inputs import ChangeInput, Input


def require_apart(inputs: Iterable[Input]) -> None:
    """See that no two entries of a lane claim the same.

    Raises:
        LanewrightError: Two do.
    """
    holders: dict[str, Input] = {}
    for given in inputs:
        for claim in given.claims if isinstance(given, ChangeInput) else ():
            other = holders.setdefault(claim, given)
            if other is not given:
                raise LanewrightError(
                    f"{given.place} ({given.name}) claims {claim!r}, and so does {other.place}"
                    f" ({other.name}); only one of them can be carried",
                    hint="take one of the two out of the series",
                )
