"""What became another for a lane since the night before."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lanewright.history.band import NOT_COUNTED
from lanewright.history.past import Change, PastEntry, PastLane, PastRun


@dataclass(frozen=True)
class Before:
    """A lane in earlier nights, each with that night's name; None where there is no such night.

    Attributes:
        night: In the one before.
        run: In the last one that recorded a run of it.
    """

    night: tuple[str, PastLane] | None
    run: tuple[str, PastLane] | None


def changes(lane: PastLane, before: Before) -> Iterator[Change]:
    """Yield what changed: verdicts and pull requests, then pin, entries, equality and throughput of the run."""
    if before.night:
        since, earlier = before.night
        yield from _differing(_verdicts(earlier), _verdicts(lane), since)
        yield from _differing(_pulls(earlier), _pulls(lane), since, ends=False)
        if lane.reported and earlier.reported and not (before.run and lane.runs):
            yield from _differing(_entries(earlier.reported), _entries(lane.reported), since)
    if before.run and lane.runs:
        since, earlier = before.run
        old, new = earlier.runs[-1], lane.runs[-1]
        yield from _differing(_facts(old), _facts(new), since)
        yield from _differing(_speeds(old), _speeds(new), since, ends=False)


def _differing(
    before: Mapping[str, str], now: Mapping[str, str], since: str, *, ends: bool = True
) -> Iterator[Change]:
    """Yield what differs; with ``ends`` also what is there in one alone."""
    for what in dict.fromkeys([*before, *now]):
        old, new = before.get(what, ""), now.get(what, "")
        if old != new and (ends or (old and new)):
            yield Change(what, old, new, since)


def _verdicts(lane: PastLane) -> dict[str, str]:
    told = f"{lane.verdict}, drift" if lane.drift and lane.verdict != "drift" else lane.verdict
    return {"verdict": told} | {f"step {step.name}": step.verdict for step in lane.steps}


def _pulls(lane: PastLane) -> dict[str, str]:
    return {
        f"pull request {pull.number}": ", ".join(
            filter(
                None,
                [pull.state, pull.standing, f"upstream at {(pull.newest or pull.head or '')[:12]}"],
            )
        )
        for pull in lane.pulls
    }


def _facts(run: PastRun) -> dict[str, str]:
    modes = {f"equality {mode.mode}": mode.verdict for mode in run.modes}
    return {
        "pin": f"{run.pin_ref} (commit {run.pin_commit[:12]})",
        **_entries(run.entries),
        **modes,
    }


def _entries(entries: Sequence[PastEntry]) -> dict[str, str]:
    return {f"entry {entry.name}": outcomes_of(entry) for entry in entries}


def _speeds(run: PastRun) -> dict[str, str]:
    """What is not counted is no news of the lane."""
    return {
        f"throughput {each.mode} {each.arm}": each.word
        for each in run.throughput
        if each.word not in ("", NOT_COUNTED)
    }


def outcomes_of(entry: PastEntry) -> str:
    """E.g. ``1 clean, 3 merged``; of an overlay, what it is."""
    return ", ".join(f"{count} {name}" for name, count in entry.hunks.items()) or entry.kind
