"""The report on a lane as data: every form of it is made of this, and of nothing else."""

from datetime import date
from typing import Literal

import msgspec

from lanewright.queue.lock import LockedFix, Outcome
from lanewright.store.objects import BlobId, CommitId, TreeId

SCHEMA: Literal[1] = 1


class Commit(msgspec.Struct, frozen=True):
    """One of upstream's commits.

    Attributes:
        id: Its full id.
        date: When it was committed, in UTC.
        subject: The first line of its message.
        url: Its page, where upstream has one.
    """

    id: CommitId
    date: date
    subject: str
    url: str = ""


class Cause(msgspec.Struct, frozen=True, omit_defaults=True):
    """What made a hunk what it is.

    Attributes:
        told: It in words.
        commit: The commit of upstream that did, where its history tells.
        lacking: Whether the pin lacks that commit, and the entry is made on it.
        entries: Other entries that touch the same lines.
    """

    told: str
    commit: Commit | None = None
    lacking: bool = False
    entries: list[str] = []


class Excerpt(msgspec.Struct, frozen=True, omit_defaults=True):
    """Some lines of one side of a file.

    Attributes:
        first: Number of the first, from 1 on; 0 where the side has no such file.
        lines: They, without their ends; with a carriage return where some lines of the three
            sides end so and others do not.
        unended: Whether the last has no end, and that of another side has one.
    """

    first: int
    lines: list[str]
    unended: bool = False


class ThreeSides(msgspec.Struct, frozen=True):
    """The lines that a person must settle, on each side.

    Attributes:
        base: As the entry's own base has them.
        ours: As the lane has them.
        theirs: As the entry has them.
    """

    base: Excerpt
    ours: Excerpt
    theirs: Excerpt


class HunkReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of a hunk.

    Attributes:
        id: Its name.
        symbol: Dotted name of what encloses it, or empty.
        lines: Where it stood on its own base, 1-based, as ``first+count``.
        outcome: What became of it.
        open: Whether it needs a person.
        cause: Why.
        detail: What more there is to say of it.
        difference: Where it landed with edits, how upstream's lines differ from its own.
        refused: The rule that keeps it out, and why, if one does.
        sides: Where it needs a person, and has lines.
    """

    id: str
    symbol: str
    lines: str
    outcome: Outcome
    open: bool = False
    cause: Cause | None = None
    detail: str = ""
    difference: str = ""
    refused: str = ""
    sides: ThreeSides | None = None


class FileReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file that an entry changes.

    Attributes:
        path: The file.
        hunks: Its hunks, in file order.
        blobs: Where it needs a person, the ids of its three sides: base, ours, theirs.
    """

    path: str
    hunks: list[HunkReport]
    blobs: tuple[BlobId, BlobId, BlobId] | None = None


class TurnReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place on upstream's way where an entry stopped merging, or merges again.

    Attributes:
        merges: Which of the two.
        commit: Upstream's; absent where files differ that no commit tells of.
        lacking: Whether the pin lacks that commit, and the entry is made on it.
    """

    merges: bool
    commit: Commit | None = None
    lacking: bool = False


class Sight(msgspec.Struct, frozen=True):
    """What became of a pull request on an earlier day, as ``pr.toml`` has it."""

    on: date
    pin: str
    outcome: str


class EntryReport(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What became of an entry.

    Attributes:
        name: As in the series.
        standing: Whether the lane carries it, or only watches it.
        kind: What sort of thing it is.
        source: What it is read from.
        title: What it is, in a line, or empty.
        number: Of a pull request.
        state: The same, as GitHub or ``pr.toml`` has it.
        head: The commit that is carried or tried.
        head_date: When that was committed.
        newest: Upstream's, where it is another one.
        base: The commit that it is a change of.
        seen: What became of it before.
        worth: Whether it is worth carrying, by ``pr.toml``.
        verdict: What becomes of it now, as a person would say it.
        counts: The same in numbers.
        open: Whether it needs a person.
        claims: What it takes for itself.
        provides: The seams at which it plugs in.
        outside: How many files it changes that are no part of a lane.
        files: What became of its hunks, or for an overlay nothing.
        laid: An overlay's files.
        turns: Where it stopped merging, and merged again, if it needs a person.
        tried: How many of upstream's commits were tried for that.
        fixes: Hand fixes that were taken, and those that a waiting file could not take.
        unwritten: Files of those that are not there yet: of ones merged again onto sides that moved,
            which a build or a rebase writes.
        unneeded: Files of fixes that are not needed.
        notes: What else a person should know.
        next: What to type, or what to type instead.
    """

    name: str
    standing: Literal["carried", "watched"]
    kind: Literal["patch", "pull", "overlay"]
    source: str
    title: str = ""
    number: int | None = None
    state: str = ""
    head: CommitId | None = None
    head_date: date | None = None
    newest: CommitId | None = None
    base: str = ""
    seen: list[Sight] = []
    worth: str = ""
    verdict: str
    counts: str = ""
    open: bool = False
    claims: list[str] = []
    provides: list[str] = []
    outside: int = 0
    files: list[FileReport] = []
    laid: list[str] = []
    turns: list[TurnReport] = []
    tried: int = 0
    fixes: list[LockedFix] = []
    unwritten: list[str] = []
    unneeded: list[str] = []
    notes: list[str] = []
    next: list[str] = []


class Clash(msgspec.Struct, frozen=True):
    """Entries that claim the same and so exclude each other.

    Attributes:
        claim: What they claim.
        entries: Names, those that the lane carries first.
    """

    claim: str
    entries: list[str]


class Shared(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file that two entries change.

    Attributes:
        path: The file.
        meetings: Ids of hunks that touch the same lines, or lines right beside each other, one of
            each; without any they keep apart.
    """

    path: str
    meetings: list[tuple[str, str]] = []


class Cell(msgspec.Struct, frozen=True, omit_defaults=True):
    """What two entries have in common; pairs that have nothing are left out.

    Attributes:
        one: The earlier entry.
        other: The later one.
        files: Files that both change.
        claims: What both claim.
    """

    one: str
    other: str
    files: list[Shared] = []
    claims: list[str] = []


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A lane, entry by entry.

    Attributes:
        schema: Version of this form.
        lane: The lane.
        on: The day, in UTC.
        pin: What it stands on.
        commit: What that is in the store: upstream's own commit, or the release's.
        upstream: Upstream's commit that a release is, where it is known.
        distribution: The release that it is, or that goes with it.
        version: The same release's.
        tree: The lane's tree, without what needs a person.
        complete: Whether all of it is in.
        fault: Why its entries cannot be carried together, if they cannot.
        entries: What is carried, in order, then what is watched.
        clashes: Claims that exclude each other.
        matrix: What any two entries have in common.
    """

    schema: Literal[1]
    lane: str
    on: date
    pin: str
    commit: CommitId
    upstream: CommitId | None
    distribution: str
    version: str
    tree: TreeId
    complete: bool
    fault: str = ""
    entries: list[EntryReport]
    clashes: list[Clash]
    matrix: list[Cell]
