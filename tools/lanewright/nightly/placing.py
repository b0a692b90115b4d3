"""Where in the project what a night found is to be mended: a file, and a line of it."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.queue.edit.selection import read_part
from lanewright.queue.patch.diff import HUNK
from lanewright.queue.series import load_series, name_of
from lanewright.report.github import starts
from lanewright.report.model import EntryReport, HunkReport, Report
from lanewright.store.regular import read_regular
from lanewright.store.safepath import UnsafePathError, check

# Bytes of a patch; a large one has some hundred thousand.
MOST = 2**24
INIT = "__init__.py"


@dataclass(frozen=True)
class Place:
    """A line of a file.

    Attributes:
        file: Below the project.
        line: From 1.
    """

    file: str
    line: int = 1


@dataclass(frozen=True)
class Placing:
    """Places of a lane.

    Attributes:
        project: Has its files.
        lane: It.
        report: What the night's report told of it.
    """

    project: Project
    lane: str
    report: Report | None

    @property
    def series(self) -> Place:
        """Its series."""
        return Place(f"series/{self.lane}.toml")

    def named(self, said: str) -> Place:
        """The entry that an error names by its number; else the series."""
        found = re.search(rf"series/{re.escape(self.lane)}\.toml: entry (\d{{1,4}})\b", said)
        lines = [*self._lines().values()]
        number = int(found[1]) if found else 0
        return Place(self.series.file, lines[number - 1] if 0 < number <= len(lines) else 1)

    def of_entry(self, entry: EntryReport) -> Place:
        """Where an entry that waits for a person is to be mended.

        That is the fix that no longer fits, the hunk of an own patch, or its place in the series.
        """
        unfit = [fix.file for fix in entry.fixes if fix.state == "stale"]
        if unfit and (fix := self._there(unfit[0])):
            return fix
        waits = [(file.path, hunk) for file in entry.files for hunk in file.hunks if hunk.open]
        path, hunk = waits[0] if waits else ("", None)
        return self._of_hunk(entry, path, hunk)

    def of_part(self, part: str, hunks: Collection[str]) -> Place:
        """Where what a search found is to be mended.

        Args:
            part: As ``drop`` takes it.
            hunks: Ids of its hunks.
        """
        try:
            named = read_part(part)
        except LanewrightError:
            return self.series
        told = self.report.entries if self.report else []
        carried = [each for each in told if each.standing == "carried"]
        entry = next((each for each in carried if each.name == named.entry), None)
        if entry is None:
            return self._in_series(named.entry)
        if entry.kind == "overlay":
            return self._of_overlay(entry)
        of_file = {file.path: file.hunks for file in entry.files}.get(named.path, [])
        hunk = next((each for each in of_file if each.id in hunks), None)
        fix = next((fix.file for fix in entry.fixes if fix.path == named.path), "")
        if hunk and hunk.outcome in ("fixed", "fix stale") and (place := self._there(fix)):
            return place
        return self._of_hunk(entry, named.path, hunk)

    def _of_hunk(self, entry: EntryReport, path: str, hunk: HunkReport | None) -> Place:
        if entry.kind == "patch" and (patch := self._there(entry.source)):
            content = read_regular(self.project.root / patch.file, MOST) or b""
            return Place(patch.file, _line_of(content, path, hunk.lines if hunk else ""))
        return self._in_series(entry.name)

    def _of_overlay(self, entry: EntryReport) -> Place:
        """Its one file, or the one that is imported first."""
        below = "overlay/tree" if entry.source == "overlay/tree" else "overlay"
        files = [name for name in entry.laid if name.endswith(".py")]
        first = [name for name in files if name.count("/") == 1 and name.endswith(f"/{INIT}")]
        chosen = files if len(files) == 1 else first
        found = self._there(f"{below}/{chosen[0]}") if chosen else None
        return found or self._in_series(entry.name)

    def _in_series(self, entry: str) -> Place:
        return Place(self.series.file, self._lines().get(entry, 1))

    def _lines(self) -> dict[str, int]:
        """Where each entry begins, in order; nothing where the series cannot be read."""
        try:
            entries = load_series(self.project, self.lane).entry
            text = self.project.series_file(self.lane).read_text("utf-8", "replace")
        except (LanewrightError, OSError):
            return {}
        return dict(zip(map(name_of, entries), starts(text, len(entries)), strict=True))

    def _there(self, file: str) -> Place | None:
        """The first line of a file of the project's, if it is one."""
        try:
            check(file, source="a night")
        except UnsafePathError:
            return None
        return Place(file) if (self.project.root / file).is_file() else None


def _line_of(patch: bytes, path: str, lines: str) -> int:
    """The line of a patch at which a hunk begins, else its file, else the first one.

    Args:
        patch: Its content.
        path: Of the file.
        lines: Where the hunk stands in that, as ``first+count``.
    """
    stands = re.fullmatch(r"(\d{1,9})\+(\d{1,9})", lines)
    # git names the line before an insertion.
    first = int(stands[1]) - (int(stands[2]) == 0) if stands else None
    told, ours = 1, False
    for number, line in enumerate(patch.split(b"\n"), 1):
        if line.startswith(b"diff --git "):
            ours = bool(path) and line.rstrip().endswith(b" b/" + path.encode("utf-8", "replace"))
            told = number if ours else told
        elif ours and (hunk := HUNK.match(line)) and int(hunk[1]) == first:
            return number
    return told
