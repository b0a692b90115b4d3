"""Trees edited in memory: one git call reads the folders on the way, one writes the new ones."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from lanewright.store.git import GitError, Repository
from lanewright.store.objects import BlobId, File, TreeId, folders, object_id

EMPTY = TreeId("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
ROOT = ""
FOLDER, SUBMODULE = "40000", "160000"
KINDS = {FOLDER: "tree", SUBMODULE: "commit"}
BYTES_OF_ID = 20
NO_PART = {"", ".", "..", ".git"}

Entries = dict[str, File]


def edit_tree(repository: Repository, tree: TreeId, changes: Mapping[str, File | None]) -> TreeId:
    """A tree with some files set, or removed where the value is None.

    A file that is set takes the place of a folder, and a folder on its way that of a file.

    Raises:
        GitError: A path is none, such as one with the part ``..``; one is to be both a file and a
            folder; or a file's content is not in the store.
    """
    for path in changes:
        if not NO_PART.isdisjoint(path.lower().split("/")):
            raise GitError(f"{path!r} is no path for git")
    tables = _read(repository, tree, {ROOT, *(each for path in changes for each in folders(path))})
    added = {path: file for path, file in changes.items() if file}
    for path in changes:
        _take_out(tables, path, keep_folder=path not in added)
    for path, file in added.items():
        folder, name = _split(path)
        tables[folder][name] = file
    new = list(_closed(tables, added))
    lines = [f"{line}\0" for each in new for line in (*map(_line, each.entries.items()), "")]
    written = repository.run("mktree", "-z", "--batch", stdin=_raw("".join(lines)))
    if written.stdout.decode().split() != [each.id for each in new]:
        raise GitError(f"git mktree made another tree of {tree} than was asked for")
    return new[-1].id


@dataclass(frozen=True)
class _Tree:
    id: TreeId
    entries: Entries


def _read(repository: Repository, tree: TreeId, wanted: Iterable[str]) -> dict[str, Entries]:
    """The entries of a tree's folders; none where it has no such folder."""
    tables: dict[str, Entries] = {folder: {} for folder in wanted}
    if tree == EMPTY:
        return tables
    names = [f"{tree}:{folder}" for folder in tables]
    stdin = _raw("".join(f"{name}\0" for name in names))
    stream = repository.run("cat-file", "--batch", "--buffer", "-z", stdin=stdin).stdout
    at = 0
    for folder, name in zip(tables, names, strict=True):
        missing = _raw(f"{name} missing\n")
        if stream.startswith(missing, at):
            if folder == ROOT:
                raise GitError(f"the store has no tree {tree}")
            at += len(missing)
            continue
        end = stream.index(b"\n", at)
        kind, size = stream[at:end].split(b" ")[1:]
        start, at = end + 1, end + 1 + int(size) + 1
        if kind == b"tree":
            tables[folder] = dict(_entries(stream[start : at - 1]))
    return tables


def _entries(raw: bytes) -> Iterator[tuple[str, File]]:
    at = 0
    while at < len(raw):
        end = raw.index(b"\0", at)
        mode, _, name = raw[at:end].partition(b" ")
        at = end + 1 + BYTES_OF_ID
        yield _text(name), File(mode.decode(), BlobId(raw[end + 1 : at].hex()))


def _take_out(tables: dict[str, Entries], path: str, *, keep_folder: bool) -> None:
    folder, name = _split(path)
    known = tables[folder].get(name)
    if known and not (keep_folder and known.mode == FOLDER):
        del tables[folder][name]
        for below, entries in tables.items():
            if f"{below}/".startswith(f"{path}/"):
                entries.clear()


def _closed(tables: dict[str, Entries], added: Mapping[str, File]) -> Iterator[_Tree]:
    """Every folder as a tree, each after those that it holds; the root is last."""
    for folder in sorted(tables, key=lambda path: (path.count("/"), path != ROOT), reverse=True):
        entries = tables[folder]
        name = TreeId(object_id("tree", _packed(entries)))
        if entries or folder == ROOT:
            yield _Tree(name, entries)
        if folder == ROOT:
            return
        parent, own = _split(folder)
        if entries and folder in added:
            raise GitError(f"{folder!r} is to be a file and a folder")
        if entries:
            tables[parent][own] = File(FOLDER, BlobId(name))
        elif own in tables[parent] and tables[parent][own].mode == FOLDER:
            del tables[parent][own]


def _packed(entries: Entries) -> bytes:
    """A tree as git stores it: a folder is sorted as if its name ended with a slash."""
    named = [(_raw(name), file) for name, file in entries.items()]
    named.sort(key=lambda each: each[0] + b"/" * (each[1].mode == FOLDER))
    return b"".join(
        b"%s %s\0%s" % (file.mode.encode(), name, bytes.fromhex(file.blob)) for name, file in named
    )


def _line(entry: tuple[str, File]) -> str:
    name, file = entry
    return f"{file.mode} {KINDS.get(file.mode, 'blob')} {file.blob}\t{name}"


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder, name


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
