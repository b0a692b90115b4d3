"""What a night's steps printed of a lane, as numbers."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from lanewright.history.forms import Reported, ReportedEntry
from lanewright.history.past import PastEntry
from lanewright.history.reading_files import DamagedError, decoded, read_file
from lanewright.nightly.night import Step
from lanewright.store.git import Repository
from lanewright.terminal import say

# The first line of `rebase --check` of a lane on a commit.
MOVES = re.compile(r"lane \S+: git:(?P<here>[0-9a-f]{40}) -> git:(?P<there>[0-9a-f]{40})")
NO_SUCH_COMMIT = 128


def conflicts(folder: Path, steps: list[Step]) -> int | None:
    """How many hunks of what the lane carries need a person, by its report.

    Args:
        folder: Of the night.
        steps: The lane's.
    """
    carried = _carried(folder, steps)
    if carried is None:
        return None
    return sum(hunk.open for entry in carried for file in entry.files for hunk in file.hunks)


def reported(folder: Path, steps: list[Step]) -> list[PastEntry]:
    """What became of what the lane carries, entry by entry, by its report.

    Args:
        folder: Of the night.
        steps: The lane's.
    """
    return [
        PastEntry(
            entry.name,
            entry.kind,
            dict(Counter(hunk.outcome for file in entry.files for hunk in file.hunks)),
        )
        for entry in _carried(folder, steps) or ()
    ]


def _carried(folder: Path, steps: list[Step]) -> list[ReportedEntry] | None:
    for content in _printed(folder, steps, "report"):
        try:
            report = decoded(content, Reported)
        except DamagedError:
            # Of a report that came to nothing there is only talk.
            return None
        return [entry for entry in report.entries if entry.standing == "carried"]
    return None


def commits_behind(objects: Path, folder: Path, steps: list[Step]) -> int | None:
    """How many commits upstream is ahead, where both ends are commits that the store has.

    Args:
        objects: The store's repository, which may be absent.
        folder: Of the night.
        steps: The lane's.
    """
    for content in _printed(folder, steps, "drift"):
        moves = MOVES.fullmatch(content.partition(b"\n")[0].decode("utf-8", "replace"))
        if not moves:
            return None
        if moves["here"] == moves["there"]:
            return 0
        if not objects.is_dir():
            return None
        between = f"{moves['here']}..{moves['there']}"
        counted = Repository(objects).run(
            "rev-list", "--count", between, "--", ok=(0, NO_SUCH_COMMIT)
        )
        return None if counted.status else int(counted.stdout)
    return None


def _printed(folder: Path, steps: list[Step], name: str) -> Iterator[bytes]:
    for step in steps:
        if step.name == name and step.out and step.verdict not in ("pending", "left out"):
            file = folder / Path(step.out).name
            try:
                yield read_file(file)
            except DamagedError as error:
                say(f"{file} is passed over: {error}")
