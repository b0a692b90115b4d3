"""Blobs, trees and commits as they are read; every name is a full object id."""

import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import NewType

from lanewright.errors import LanewrightError
from lanewright.store.git import GitError, Repository
from lanewright.store.odb import object_id, objects_of

BlobId = NewType("BlobId", str)
TreeId = NewType("TreeId", str)
CommitId = NewType("CommitId", str)

NO_BLOB = BlobId("0" * 40)
EMPTY = TreeId("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
FOLDER = "40000"
BYTES_OF_ID = 20
FULL_ID = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class File:
    """One file of a tree: its mode (``100644``, ``100755``, ``120000``) and its content's id."""

    mode: str
    blob: BlobId


def blob_id(content: bytes) -> BlobId:
    """The id that git gives a blob; nothing is stored."""
    return BlobId(object_id("blob", content))


def resolve(repository: Repository, name: str) -> str | None:
    """The object id that ``name`` stands for, or None."""
    output = repository.run(
        "rev-parse", "--verify", "--quiet", "--end-of-options", name, ok=(0, 1, 128)
    )
    return output.stdout.decode().strip() or None


def commit_and_tree(repository: Repository, name: str) -> tuple[CommitId, TreeId] | None:
    """The commit that ``name`` stands for and its tree, in one git call; None where there is none.

    Args:
        repository: The store.
        name: A ref or id without blanks.
    """
    stdin = f"{name}^{{commit}}\n{name}^{{tree}}\n".encode()
    output = repository.run("cat-file", "--batch-check=%(objectname)", stdin=stdin, ok=(0, 128))
    found = output.stdout.decode().splitlines()
    if output.status or not all(FULL_ID.fullmatch(line) for line in found):
        return None
    commit, tree = found
    return CommitId(commit), TreeId(tree)


def commits_named(repository: Repository, refs: Iterable[str]) -> list[CommitId | None]:
    """The commit that each ref stands for, in one git call at most; None where there is none.

    Args:
        repository: The store; it may be just in the making.
        refs: Names without blanks.
    """
    wanted = list(refs)
    loose = [_loose_commit(repository, ref) for ref in wanted]
    if all(loose):
        return loose
    stdin = "".join(f"{ref}^{{commit}}\n" for ref in wanted).encode()
    output = repository.run("cat-file", "--batch-check=%(objectname)", stdin=stdin, ok=(0, 128))
    lines = output.stdout.decode().splitlines()
    # It ends at the first object that a partial clone has left at its remote.
    lines += [""] * (len(wanted) - len(lines))
    return [CommitId(line) if FULL_ID.fullmatch(line) else None for line in lines]


def _loose_commit(repository: Repository, ref: str) -> CommitId | None:
    """The commit that a ref names in a file of its own, as it is written; None where git is to say."""
    try:
        named = (repository.path / ref).read_bytes().decode("ascii", "replace").strip()
    except OSError:
        return None
    try:
        return commit_at(repository, named) if FULL_ID.fullmatch(named) else None
    except GitError:
        return None


def commit_at(repository: Repository, name: str) -> CommitId | None:
    """The commit that a full id stands for, through tags; None where none is here."""
    objects = objects_of(repository)
    while name in objects:
        kind, content = objects.read(name)
        if kind == "commit":
            return CommitId(name)
        if kind != "tag":
            return None
        name = content[7:47].decode()  # after "object "
    return None


def tree_of(repository: Repository, commit: CommitId) -> TreeId:
    """The tree of a commit that is here."""
    return TreeId(objects_of(repository).read(commit)[1][5:45].decode())  # after "tree "


def exists(repository: Repository, ids: Iterable[str]) -> bool:
    """Whether the store holds every one of these objects."""
    output = repository.run(
        "cat-file",
        "--batch-check",
        "--buffer",
        stdin="".join(f"{i}\n" for i in ids).encode(),
        ok=(0, 128),  # another run is just making the store
    )
    return output.status == 0 and b" missing\n" not in output.stdout


def files(repository: Repository, tree: TreeId, paths: Iterable[str] = ()) -> dict[str, File]:
    """Files of a tree by path: all of them, or those of ``paths`` that exist."""
    wanted = dict.fromkeys(paths)
    if not wanted:
        return dict(_all_files(repository, tree))
    found = {path: _at(repository, tree, path) for path in wanted}
    return {path: file for path, file in found.items() if file and file.mode != FOLDER}


def at_or_below(repository: Repository, tree: TreeId, paths: Iterable[str]) -> dict[str, File]:
    """Files of a tree at these paths, and in folders of these names."""
    found: dict[str, File] = {}
    for path in paths:
        file = _at(repository, tree, path)
        if file and file.mode == FOLDER:
            below = _all_files(repository, TreeId(file.blob))
            found |= {f"{path}/{name}": each for name, each in below.items()}
        elif file:
            found[path] = file
    return found


def _at(repository: Repository, tree: TreeId, path: str) -> File | None:
    """The file or folder at a path."""
    found = File(FOLDER, BlobId(tree))
    for part in path.split("/"):
        inside = entries(repository, TreeId(found.blob)) if found.mode == FOLDER else {}
        if part not in inside:
            return None
        found = inside[part]
    return found


@lru_cache(maxsize=64)
def _all_files(repository: Repository, tree: TreeId) -> dict[str, File]:
    """All files by path; a tree never changes, so it is read once."""
    with not_too_deep():
        return dict(_all_files_below(repository, tree))


def _all_files_below(repository: Repository, tree: TreeId) -> Iterator[tuple[str, File]]:
    for name, file in entries(repository, tree).items():
        if file.mode == FOLDER:
            for path, each in _all_files_below(repository, TreeId(file.blob)):
                yield f"{name}/{path}", each
        else:
            yield name, file


@lru_cache(maxsize=4096)
def entries(repository: Repository, tree: TreeId) -> Mapping[str, File]:
    """What a folder holds by name, folders among it; of a commit, its root folder.

    Raises:
        MissingObjectError: It is not in the store.
        LanewrightError: It is no tree, or holds a name twice.
    """
    if tree == EMPTY:
        return {}
    kind, raw = objects_of(repository).read(tree)
    if kind == "commit":
        return entries(repository, tree_of(repository, CommitId(tree)))
    if kind != "tree":
        raise LanewrightError(f"object {tree} is a {kind}, and no tree")
    try:
        return _parsed(raw)
    except ValueError as error:
        raise LanewrightError(f"tree {tree} is no sound tree: {error}") from error


def _parsed(content: bytes) -> dict[str, File]:
    found: dict[str, File] = {}
    at = 0
    while at < len(content):
        end = content.index(b"\0", at)
        mode, _, name = content[at:end].partition(b" ")
        at = end + 1 + BYTES_OF_ID
        if not name or at > len(content):
            raise ValueError("it ends within an entry")
        named = text(name)
        if named in found:
            raise ValueError(f"it has {named!r} twice")
        found[named] = File(_mode(mode), BlobId(content[end + 1 : at].hex()))
    return found


@lru_cache(maxsize=64)
def _mode(octal: bytes) -> str:
    """A mode as git takes it, whatever bits a tree of another tool has."""
    bits = int(octal, 8)
    if stat.S_ISDIR(bits):
        return FOLDER
    if stat.S_ISREG(bits):
        return "100755" if bits & stat.S_IXUSR else "100644"
    return "120000" if stat.S_ISLNK(bits) else "160000"


def folders(path: str) -> list[str]:
    """The folders that a path is in, outermost first."""
    return [path[:at] for at, sign in enumerate(path) if sign == "/"]


def changes(
    repository: Repository, before: TreeId, after: TreeId
) -> dict[str, tuple[File | None, File | None]]:
    """Files that differ between two trees, as they are in each; None where one lacks the file."""
    return dict(_changes(repository, before, after))


@lru_cache(maxsize=64)
def _changes(
    repository: Repository, before: TreeId, after: TreeId
) -> dict[str, tuple[File | None, File | None]]:
    """What ``changes`` gives, in git's order; trees never change, so it is found once."""
    with not_too_deep():
        found = dict(_differing(repository, before, after, ""))
    return {path: found[path] for path in sorted(found, key=raw)}


def _differing(
    repository: Repository, before: TreeId | None, after: TreeId | None, folder: str
) -> Iterator[tuple[str, tuple[File | None, File | None]]]:
    if before == after:
        return
    old, new = (entries(repository, tree) if tree else {} for tree in (before, after))
    for name in old.keys() | new.keys():
        sides = old.get(name), new.get(name)
        if sides[0] == sides[1]:
            continue
        trees = [TreeId(s.blob) if s and s.mode == FOLDER else None for s in sides]
        if any(trees):
            yield from _differing(repository, trees[0], trees[1], f"{folder}{name}/")
        here = [None if s and s.mode == FOLDER else s for s in sides]
        if any(here):
            yield f"{folder}{name}", (here[0], here[1])


def read_blobs(repository: Repository, ids: Iterable[BlobId]) -> dict[BlobId, bytes]:
    """Contents by id.

    Raises:
        MissingObjectError: One of them is not in the store.
    """
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return {}
    objects = objects_of(repository)
    found = {blob: objects.read(blob) for blob in wanted}
    for blob, (kind, _) in found.items():
        if kind != "blob":
            raise LanewrightError(f"object {blob} is a {kind}, and no file's content")
    return {blob: content for blob, (_, content) in found.items()}


def lacking(repository: Repository, ids: Iterable[BlobId]) -> list[BlobId]:
    """Of these blobs, the ones that are not in the store; none is fetched."""
    objects = objects_of(repository)
    return [blob for blob in dict.fromkeys(ids) if blob not in objects]


@contextmanager
def not_too_deep() -> Iterator[None]:
    """Say of a tree whose folders no file system could hold that it is one."""
    try:
        yield
    except RecursionError as error:
        raise LanewrightError("a tree has folders that are nested too deep") from error


def text(raw: bytes) -> str:
    """Paths are bytes to git; as text they survive a round trip through surrogates."""
    return raw.decode("utf-8", "surrogateescape")


def raw(text: str) -> bytes:
    """A path as git has it."""
    return text.encode("utf-8", "surrogateescape")
