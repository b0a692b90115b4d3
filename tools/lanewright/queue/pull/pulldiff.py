"""A pull request's net change, read from two trees; no mail, no message, no ``.patch`` text."""

import re
from itertools import pairwise

from lanewright.queue.patch.diff import Diff, FilePatch, Hunk, read_hunks
from lanewright.store.diffing import diff_of
from lanewright.store.git import Repository
from lanewright.store.objects import NO_BLOB, File, TreeId, changes
from lanewright.store.safepath import check
from lanewright.store.trees import flat_trees

LINK = "120000"
SECTION = re.compile(rb"diff --git a/(\d+) b/\d+\n")
FLAGS = (
    "--unified=3",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
    "--indent-heuristic",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-renames",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)


def pull_diff(
    repository: Repository,
    base: TreeId,
    head: TreeId,
    source: str,
    submodules: tuple[str, ...] = (),
) -> Diff:
    """What changes between two trees, as something to choose from.

    Args:
        repository: The store.
        base: Before.
        head: After.
        source: What to call the change in messages.
        submodules: What it changes beside that and no lane can have.

    Raises:
        UnsafePathError: A path that would leave the tree.
    """
    changed = changes(repository, base, head)
    for path in changed:
        check(path, source=source)
    hunks = _hunks(repository, changed, source)
    removed, added = (any(sides[side] is None for sides in changed.values()) for side in (1, 0))
    partners = _renames(repository, base, head) if removed and added else {}
    files = [
        _file(path, *sides, hunks[path], partners.get(path)) for path, sides in changed.items()
    ]
    return Diff(source, tuple(files), submodules)


def _file(
    path: str,
    before: File | None,
    after: File | None,
    hunks: tuple[Hunk, ...] | None,
    partner: str | None,
) -> FilePatch:
    old, new = before.mode if before else None, after.mode if after else None
    pre, post = before.blob if before else NO_BLOB, after.blob if after else NO_BLOB
    whole = hunks is None or LINK in {old, new}
    if pre == post and not whole:  # only its mode
        pre = post = NO_BLOB
    return FilePatch(path, pre, post, old, new, () if whole else hunks or (), whole, partner)


def _hunks(
    repository: Repository, changed: dict[str, tuple[File | None, File | None]], source: str
) -> dict[str, tuple[Hunk, ...] | None]:
    """Hunks by path; None for a binary.

    git compares contents under plain numbers, so that no name and no attribute plays a part.
    """
    numbers = {str(number): path for number, path in enumerate(changed)}
    sides = [{n: _plain(changed[path][side]) for n, path in numbers.items()} for side in (0, 1)]
    output = diff_of(repository, *flat_trees(repository, sides), "-p", *FLAGS)
    starts = [
        match.start() for match in SECTION.finditer(output) if _at_line(output, match.start())
    ]
    found: dict[str, tuple[Hunk, ...] | None] = dict.fromkeys(changed, ())
    for start, end in pairwise([*starts, len(output)]):
        match = SECTION.match(output, start)
        path = numbers[match[1].decode()] if match else ""
        lines = output[start:end].split(b"\n")[:-1]
        at = next((i for i, line in enumerate(lines) if line.startswith(b"@@ ")), len(lines))
        is_binary = any(line.startswith(b"Binary files ") for line in lines[:at])
        found[path] = None if is_binary else tuple(read_hunks(source, path, lines[at:]))
    return found


def _at_line(output: bytes, at: int) -> bool:
    """Whether a line begins there; every line of content begins with a mark."""
    return at == 0 or output[at - 1 : at] == b"\n"


def _plain(side: File | None) -> File | None:
    """The same content as a regular file, so that a link that became one is one section."""
    return File("100644", side.blob) if side else None


def _renames(repository: Repository, base: TreeId, head: TreeId) -> dict[str, str]:
    """For both names of each renamed file, the other one."""
    flags = ("-r", "-z", "--name-status", "--find-renames=50%", "--diff-filter=R")
    fields = repository.run("diff-tree", *flags, base, head).stdout.split(b"\0")[:-1]
    names = [field.decode("utf-8", "surrogateescape") for field in fields]
    pairs = list(zip(names[1::3], names[2::3], strict=True))
    return dict(pairs) | {new: old for old, new in pairs}
