"""How a carried pull request stands, as a person would say it."""

from collections.abc import Iterator

from lanewright.queue.pull.upkeep import PullStatus
from lanewright.report.drift import told_drift
from lanewright.terminal import printable


def told_pull(pull: PullStatus) -> Iterator[str]:
    """A pull request, and what its update did to each hunk."""
    merged = f"as {pull.merged_as[:12]}" if pull.merged_as else ""
    title = f"“{printable(pull.title)}”" if pull.title else ""
    facts = " ".join(filter(None, [pull.state, merged, title]))
    moved = f", upstream is at {pull.newest[:12]}" if pull.newest else ""
    yield f"  #{pull.number}: {facts}{', ' if facts else ''}{_place(pull)}{moved}"
    if pull.note:
        yield f"    {printable(pull.note)}"
    for told in told_drift(pull.hunks):
        yield from (printable(f"  {line}") for line in told.splitlines())


def _place(pull: PullStatus) -> str:
    head = pull.head[:12]
    match pull.place:
        case "left out":
            return f"left out, at {head}"
        case "not carried yet":
            return f"in the series at {head}, not carried yet"
        case _:
            return f"carried at {head}"
