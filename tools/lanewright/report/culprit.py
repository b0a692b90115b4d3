"""What ``bisect`` found, for people and for scripts."""

from collections.abc import Iterable

import msgspec

from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.culprit.bisect import Found
from lanewright.queue.inputs import OverlayInput
from lanewright.queue.lock import HunkState, Lock
from lanewright.queue.plan import Plan
from lanewright.report.carried import carried_texts
from lanewright.report.hunks import hunk_line
from lanewright.report.outcome import counted, in_one_line
from lanewright.terminal import emit, printable, quoted, say


class Culprit(msgspec.Struct, frozen=True, omit_defaults=True):
    """One part of what is bad together.

    Attributes:
        part: As ``drop`` takes it.
        told: What it is, in a line.
        hunks: What the lock says of its hunks; an overlay has none.
        texts: What a diff shows of each.
        files: Of an overlay.
        untold: Why it could not be told whether it is needed, where it could not.
    """

    part: str
    told: str
    hunks: list[HunkState] = []
    texts: list[str] = []
    files: list[str] = []
    untold: str = ""


def culprits(
    project: Project, places: Places, planned: Plan, lock: Lock, found: Found
) -> list[Culprit]:
    """Each part of what was found, with its text.

    Raises:
        LanewrightError: A change cannot be shown.
    """
    inputs = {given.name: given for given in planned.inputs}
    entries = {entry.name: entry for entry in lock.entries}
    texts = {
        name: carried_texts(project, places, given, entries[name])
        for name in dict.fromkeys(piece.part.entry for piece in found.pieces)
        if not isinstance(given := inputs[name], OverlayInput)
    }
    made = []
    for piece in found.pieces:
        entry = entries[piece.part.entry]
        hunks = [hunk for hunk in entry.hunks if hunk.id in piece.hunks]
        made.append(
            Culprit(
                part=str(piece.part),
                told=f"{entry.name} ({entry.source}): {in_one_line(entry)}",
                hunks=hunks,
                texts=[texts[entry.name][hunk.id] for hunk in hunks],
                files=entry.files,
                untold=found.untold.get(piece, ""),
            )
        )
    return made


def emit_culprits(told: Iterable[Culprit]) -> None:
    """Print each part as ``show`` does, behind the name that ``drop`` takes it by."""
    for each in told:
        if not each.hunks:
            emit("\n".join([each.told, *(f"  {printable(path)}" for path in each.files)]))
        for hunk, text in zip(each.hunks, each.texts, strict=True):
            entry = each.part.partition(":")[0]
            emit(f"{entry}:{hunk_line(hunk, hunk.outcome)}")
            if text:
                emit(text)


def say_found(told: list[Culprit], found: Found, command: str) -> None:
    """Say how sure it is, and what to type next."""
    what = "this part alone" if len(told) == 1 else f"these {len(told)} parts together"
    say(f"bad with {what}, of {counted(found.of, 'part')}; {found.tries} tries")
    for each in told:
        if each.untold:
            why = printable(f"  {each.part}: whether it is needed could not be told: {each.untold}")
            say(why)
    if len(found.remedy) == 1:
        say(printable(f"the lane without {found.remedy[0].part} is good"))
    elif found.remedy:
        say("the lane without all of them is good, and without one of them it is not")
    else:
        say(
            "the lane without that is not good either: there is more to find, so drop it, and bisect again"
        )
    say(f"  next: {command}")


def drop_command(project: Project, lane: str, found: Found) -> str:
    """What takes it out of the lane."""
    option = project.option(lane)
    drops = [
        f"lanewright drop {quoted(str(each.part))}{option}" for each in found.remedy or found.pieces
    ]
    return " && ".join(drops)
