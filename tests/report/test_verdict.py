"""An entry's outcome in one line, as a person would say it."""

import pytest

from lanewright.queue.lock import HunkState, LockedEntry, Outcome
from lanewright.report.verdict import in_words
from lanewright.store.objects import EMPTY


def entry(*hunks: tuple[str, Outcome, bool]) -> LockedEntry:
    states = [
        HunkState(f"{number:010x}", path, "", "1+0", outcome, open=waits)
        for number, (path, outcome, waits) in enumerate(hunks)
    ]
    return LockedEntry(name="1", kind="pull", source="#1", digest="", tree=EMPTY, hunks=states)


A, B, PACKAGE = "vllm/a.py", "vllm/b.py", "vllm/pool/__init__.py"


@pytest.mark.parametrize(
    ("hunks", "said"),
    [
        ([(A, "clean", False), (B, "merged", False)], "merged"),
        (
            [(A, "merged", False), (B, "not selected", False)],
            "merged (1 of 2 hunks taken)",
        ),
        ([(A, "clean", False), (B, "clean", False)], "clean"),
        ([(A, "clean", False), (B, "not selected", False)], "clean (1 of 2 hunks taken)"),
        ([(A, "conflict", True), (A, "conflict", True)], "1 file needs a hand fix"),
        (
            [(PACKAGE, "clean", False), (A, "conflict", True), (B, "conflict", True)],
            "new package clean; 2 files need hand fixes",
        ),
        (
            [(A, "conflict", True), (B, "file missing", True)],
            "1 conflicting hunk + 1 hunk for a file that is not there",
        ),
        (
            [(A, "clean", False), (B, "file missing", False)],
            "1 hunk left out, for a file that is not there",
        ),
        ([(A, "landed", False), (B, "landed changed", False)], "landed"),
        ([(A, "landed changed", True)], "1 hunk landed with edits, as it seems"),
        (
            [(A, "fixed", False), (B, "fix stale", False)],
            "1 file by hand fix; 1 file by a fix to look at again",
        ),
        ([(A, "clean", False), (B, "landed", False)], "1 hunk landed"),
    ],
)
def test_in_words(hunks: list[tuple[str, Outcome, bool]], said: str) -> None:
    assert in_words(entry(*hunks)) == said
