"""Commits by ``git fast-import``: one git call, whatever their number, and fixed ids."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lanewright.store.git import Repository
from lanewright.store.objects import CommitId, File
from lanewright.store.write import Content

START = 1_767_225_600  # 2026-01-01
HOUR = 3600

Change = Content | File | None


@dataclass(frozen=True)
class NewCommit:
    """A commit to be made.

    Attributes:
        ref: Where it goes.
        who: Name of its author.
        date: Seconds since 1970.
        message: Its message.
        parents: Ids, or marks (``:3`` is the third commit of the same stream).
        changes: Files by path that differ from its first parent; None removes one.
    """

    ref: str
    who: str
    date: int
    message: str
    parents: tuple[str, ...] = ()
    changes: Mapping[str, Change] = field(default_factory=dict)


def write_commits(
    repository: Repository, commits: Iterable[NewCommit], *, tail: bytes = b""
) -> list[CommitId]:
    """Make commits, in this order; ``tail`` is more of the stream, such as tags."""
    listed = list(commits)
    parts = [part for mark, each in enumerate(listed, 1) for part in _commit(mark, each)]
    asked = [f"get-mark :{mark}\n".encode() for mark in range(1, len(listed) + 1)]
    stream = b"".join([*parts, tail, *asked, b"done\n"])
    output = repository.run("fast-import", "--quiet", "--done", "--force", stdin=stream)
    return [CommitId(line) for line in output.stdout.decode().split()]


def data(content: bytes) -> bytes:
    """A length and so many bytes."""
    return b"data %d\n%b\n" % (len(content), content)


def _commit(mark: int, new: NewCommit) -> list[bytes]:
    who = person(new.who, new.date)
    parts = [f"commit {new.ref}\nmark :{mark}\nauthor {who}\ncommitter {who}\n".encode()]
    parts.append(data(f"{new.message}\n".encode()))
    first, *others = new.parents or ("",)
    parts += [f"from {first}\n".encode()] if first else []
    parts += [f"merge {other}\n".encode() for other in others]
    # Removals first: a file may have made room for a folder of its name.
    ordered = sorted(new.changes.items(), key=lambda item: (item[1] is not None, item[0]))
    return parts + [_change(path, change) for path, change in ordered]


def person(name: str, date: int) -> str:
    """An identity that belongs to nobody, at a time in UTC."""
    return f"{name} <{name}@stand-in.invalid> {date} +0000"


def _change(path: str, change: Change) -> bytes:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    raw = b'"' + escaped.encode("utf-8", "surrogateescape") + b'"'
    if change is None:
        return b"D " + raw + b"\n"
    if isinstance(change, File):
        return f"M {change.mode} {change.blob} ".encode() + raw + b"\n"
    return f"M {change.mode} inline ".encode() + raw + b"\n" + data(change.raw)
