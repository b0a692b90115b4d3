"""Hunks for files that are not there, left out by the series' word."""

from collections.abc import Sequence

import msgspec

from lanewright.queue.inputs import Choice, Input
from lanewright.queue.lock import HunkState
from lanewright.queue.merge.gates import GateError

WHY = 'left out: the series says missing = "skip"'


def without_missing(
    choice: Choice, chosen: frozenset[str], states: list[HunkState]
) -> tuple[frozenset[str], list[HunkState]]:
    """What is taken, and what became of each hunk, where the series skips files that are missing.

    Args:
        choice: What the series says of the entry.
        chosen: Ids of the hunks that it takes.
        states: What became of all of them.
    """
    if not choice.skips_missing:
        return chosen, states
    told = [_left_out(state) if state.outcome == "file missing" else state for state in states]
    return chosen - {state.id for state in skipped(told)}, told


def skipped(states: Sequence[HunkState]) -> list[HunkState]:
    """The hunks that are left out because their file is not there."""
    return [state for state in states if state.outcome == "file missing" and not state.open]


def require_some(given: Input, states: Sequence[HunkState], option: str) -> None:
    """See that not everything that a series takes of an entry is left out.

    Args:
        given: The entry.
        states: What became of its hunks.
        option: What names the lane in a command.

    Raises:
        GateError: Nothing of it is left.
    """
    taken = [state for state in states if state.outcome != "not selected"]
    if taken and len(skipped(taken)) == len(taken):
        raise GateError(
            f"{given.place} ({given.name}): all that is chosen of it is for files that are not"
            f" there: {', '.join(dict.fromkeys(state.path for state in taken))}",
            hint=f"lanewright drop {given.name}{option}",
        )


def _left_out(state: HunkState) -> HunkState:
    cause = "; ".join(filter(None, [WHY, state.cause]))
    return msgspec.structs.replace(state, open=False, cause=cause)
