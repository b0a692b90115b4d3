"""Trees edited in memory; git's own index would be three calls and a file for each."""

from collections.abc import Iterable, Iterator, Mapping

from lanewright.store.git import GitError, Repository
from lanewright.store.objects import EMPTY, FOLDER, BlobId, File, TreeId, entries, folders, raw
from lanewright.store.odb import object_id, objects_of

ROOT = ""
SUBMODULE = "160000"
NO_PART = {"", ".", "..", ".git"}

Entries = dict[str, File]


def edit_tree(repository: Repository, tree: TreeId, changes: Mapping[str, File | None]) -> TreeId:
    """A tree with some files set, or removed where the value is None.

    A file that is set takes the place of a folder, and a folder on its way that of a file.

    Raises:
        GitError: A path is none, such as one with the part ``..``; one is to be both a file and a
            folder; or a file's content is not in the store.
    """
    if not changes and tree != EMPTY:
        return tree
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
    return _store(repository, list(_closed(tables, added)), added)[-1]


def flat_trees(repository: Repository, trees: Iterable[Mapping[str, File | None]]) -> list[TreeId]:
    """Trees without folders; None stands for a file that is not there."""
    flat = [{name: file for name, file in each.items() if file} for each in trees]
    return _store(repository, flat, {name: f for each in flat for name, f in each.items()})


def _store(
    repository: Repository, trees: Iterable[Entries], added: Mapping[str, File]
) -> list[TreeId]:
    objects = objects_of(repository)
    for file in added.values():
        if file.mode != SUBMODULE and file.blob not in objects:
            raise objects.missing(file.blob)
    return [TreeId(name) for name in objects.write("tree", [_packed(each) for each in trees])]


def _read(repository: Repository, tree: TreeId, wanted: Iterable[str]) -> dict[str, Entries]:
    """The entries of a tree's folders; none where it has no such folder."""
    tables: dict[str, Entries] = {}
    for folder in sorted(wanted):
        parent, name = _split(folder)
        there = File(FOLDER, BlobId(tree)) if folder == ROOT else tables[parent].get(name)
        is_folder = there and there.mode == FOLDER
        tables[folder] = (
            dict(entries(repository, TreeId(there.blob))) if there and is_folder else {}
        )
    return tables


def _take_out(tables: dict[str, Entries], path: str, *, keep_folder: bool) -> None:
    folder, name = _split(path)
    known = tables[folder].get(name)
    if known and not (keep_folder and known.mode == FOLDER):
        del tables[folder][name]
        for below, inside in tables.items():
            if f"{below}/".startswith(f"{path}/"):
                inside.clear()


def _closed(tables: dict[str, Entries], added: Mapping[str, File]) -> Iterator[Entries]:
    """Every folder as a tree, each after those that it holds; the root is last."""
    for folder in sorted(tables, key=lambda path: (path.count("/"), path != ROOT), reverse=True):
        inside = tables[folder]
        if inside or folder == ROOT:
            yield inside
        if folder == ROOT:
            return
        parent, own = _split(folder)
        if inside and folder in added:
            raise GitError(f"{folder!r} is to be a file and a folder")
        if inside:
            tables[parent][own] = File(FOLDER, BlobId(object_id("tree", _packed(inside))))
        elif own in tables[parent] and tables[parent][own].mode == FOLDER:
            del tables[parent][own]


def _packed(inside: Entries) -> bytes:
    """A tree as git stores it: a folder is sorted as if its name ended with a slash."""
    named = [(raw(name), file) for name, file in inside.items()]
    named.sort(key=lambda each: each[0] + b"/" * (each[1].mode == FOLDER))
    return b"".join(
        b"%s %s\0%s" % (file.mode.encode(), name, bytes.fromhex(file.blob)) for name, file in named
    )


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder, name
