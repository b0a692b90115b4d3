"""A hunk's cause in words: which commit of upstream, or which other entry."""

from lanewright.queue.cause.whys import Why
from lanewright.queue.lock import HunkState
from lanewright.report.model import Cause, Commit
from lanewright.store.timeline import Made

CHANGED = "changed these lines"
VERBS = {
    "merged": "changed the file",
    "landed": "has it too",
    "landed changed": "has it too, with edits",
    "file missing": "removed the file",
}
LACKED = {
    "file missing": "brought the file in",
    "landed": "took it out",
    "landed changed": CHANGED,
}


def commit_report(made: Made, page: str) -> Commit:
    """A commit with its page.

    Args:
        made: It.
        page: Address of upstream's pages, or empty.
    """
    return Commit(
        made.commit, made.date, made.subject, f"{page}/commit/{made.commit}" if page else ""
    )


def named(commit: Commit) -> str:
    """A commit as a person tells it from others."""
    return f"{commit.id[:12]} ({commit.date}) {commit.subject!r}"


def cause_of(hunk: HunkState, why: Why, page: str) -> Cause:
    """What is to be said of a hunk's cause.

    Args:
        hunk: What became of it.
        why: What made it so.
        page: Address of upstream's pages, or empty.
    """
    if why.entries:
        return Cause(_by_entries(why, hunk), entries=list(why.entries))
    step = why.step
    if step is None or step.made is None:
        return Cause(hunk.cause)
    commit = commit_report(step.made, page)
    if step.undone:
        verb = LACKED.get(why.became) or _verb(why, hunk)
        told = f"upstream's {named(commit)} {verb}, which it is made on and the pin lacks"
    else:
        told = f"upstream's {named(commit)} {_verb(why, hunk)}"
    return Cause(told, commit, lacking=step.undone)


def _verb(why: Why, hunk: HunkState) -> str:
    """What a commit did; of a binary or a mode there are no lines."""
    has_lines = hunk.lines not in {"whole", "mode", "file"}
    return VERBS.get(why.became, CHANGED if has_lines else "changed the file")


def _by_entries(why: Why, hunk: HunkState) -> str:
    several = len(why.entries) > 1
    who = f"{'the entries' if several else 'the entry'} {' and '.join(why.entries)}"
    if why.became == "not selected":
        return f"it is made on {who}, of which the lane lacks a part in this file"
    if hunk.outcome == "landed":
        return f"{who} {'have' if several else 'has'} it too"
    return f"{who} {'removed the file' if hunk.outcome == 'file missing' else _verb(why, hunk)}"
