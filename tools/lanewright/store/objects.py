"""Blobs, trees and commits as values; every name is a full object id."""

import hashlib
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NewType

from lanewright.errors import LanewrightError
from lanewright.store.git import FIXED_DATE, IDENTITY, Repository

BlobId = NewType("BlobId", str)
TreeId = NewType("TreeId", str)
CommitId = NewType("CommitId", str)

NO_BLOB = BlobId("0" * 40)
FULL_ID = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class File:
    """One file of a tree: its mode (``100644``, ``100755``, ``120000``) and its content's id."""

    mode: str
    blob: BlobId


@dataclass(frozen=True)
class Content:
    """A file that is not stored yet."""

    mode: str
    raw: bytes


class MissingObjectError(LanewrightError):
    """The store lacks an object that was asked for by id."""


def _text(raw: bytes) -> str:
    """Paths are bytes to git; as text they survive a round trip through surrogates."""
    return raw.decode("utf-8", "surrogateescape")


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


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
    return dict(_files(repository, tree, tuple(paths)))


@lru_cache(maxsize=64)
def _files(repository: Repository, tree: TreeId, paths: tuple[str, ...]) -> dict[str, File]:
    """What ``files`` gives; a tree never changes, so it is asked for once."""
    output = repository.run("ls-tree", "-r", "-z", "--full-tree", tree, "--", *paths)
    found = {}
    for record in output.stdout.split(b"\0")[:-1]:
        head, _, path = record.partition(b"\t")
        mode, _, blob = head.decode().split(" ")
        found[_text(path)] = File(mode, BlobId(blob))
    return found


def changes(
    repository: Repository, before: TreeId, after: TreeId
) -> dict[str, tuple[File | None, File | None]]:
    """Files that differ between two trees, as they are in each; None where one lacks the file."""
    return dict(_changes(repository, before, after))


@lru_cache(maxsize=64)
def _changes(
    repository: Repository, before: TreeId, after: TreeId
) -> dict[str, tuple[File | None, File | None]]:
    """What ``changes`` gives; trees never change, so it is asked for once."""
    output = repository.run("diff-tree", "-r", "--raw", "-z", "--no-renames", before, after)
    fields = output.stdout.split(b"\0")[:-1]
    found: dict[str, tuple[File | None, File | None]] = {}
    for head, path in zip(fields[::2], fields[1::2], strict=True):
        old, new, pre, post, _ = head.decode().removeprefix(":").split(" ")
        found[_text(path)] = (
            None if pre == NO_BLOB else File(old, BlobId(pre)),
            None if post == NO_BLOB else File(new, BlobId(post)),
        )
    return found


def read_blobs(repository: Repository, ids: Iterable[BlobId]) -> dict[BlobId, bytes]:
    """Contents by id, in one git call.

    Raises:
        MissingObjectError: One of them is not in the store.
    """
    wanted = list(dict.fromkeys(ids))
    stdin = "".join(f"{i}\n" for i in wanted).encode()
    stream = repository.run("cat-file", "--batch", "--buffer", stdin=stdin).stdout
    contents: dict[BlobId, bytes] = {}
    at = 0
    for blob in wanted:
        end = stream.index(b"\n", at)
        fields = stream[at:end].split(b" ")
        if fields[-1] == b"missing":
            raise MissingObjectError(
                f"the store {repository.path} lacks object {blob}",
                hint=f"everything in it can be made again: rm -r {repository.path}",
            )
        size = int(fields[2])
        contents[blob] = stream[end + 1 : end + 1 + size]
        at = end + size + 2
    return contents


def write_blobs(repository: Repository, contents: Sequence[bytes]) -> list[BlobId]:
    """Store blobs in one git call; their ids in the same order."""
    return [BlobId(name) for name in _write(repository, "blob", contents)]


def _write(repository: Repository, kind: str, contents: Sequence[bytes]) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="lanewright-blobs-") as folder:
        paths = [Path(folder) / str(number) for number in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(content)
        stdin = "".join(f"{path}\n" for path in paths).encode()
        flags = ("-w", "-t", kind, "--no-filters", "--stdin-paths")
        output = repository.run("hash-object", *flags, stdin=stdin)
    return output.stdout.decode().splitlines()


def store_files(
    repository: Repository, contents: Mapping[str, Content | None]
) -> dict[str, File | None]:
    """Store contents by path; None, a file that is removed, stays None."""
    present = {path: content for path, content in contents.items() if content}
    blobs = write_blobs(repository, [content.raw for content in present.values()])
    written = {
        path: File(content.mode, blob)
        for (path, content), blob in zip(present.items(), blobs, strict=True)
    }
    return {path: written.get(path) for path in contents}


@contextmanager
def _scratch_index() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="lanewright-index-") as folder:
        yield Path(folder) / "index"


def edit_tree(repository: Repository, tree: TreeId, changes: Mapping[str, File | None]) -> TreeId:
    """A tree with some files set, or removed where the value is None."""
    if not changes:
        return tree
    lines = [
        f"0 {NO_BLOB}\t".encode() + _raw(path)
        if file is None
        else f"{file.mode} {file.blob}\t".encode() + _raw(path)
        for path, file in changes.items()
    ]
    with _scratch_index() as index:
        repository.run("read-tree", tree, index=index)
        repository.run(
            "update-index", "-z", "--index-info", stdin=b"\0".join([*lines, b""]), index=index
        )
        return TreeId(repository.run("write-tree", index=index).stdout.decode().strip())


def flat_trees(repository: Repository, trees: Iterable[Mapping[str, File | None]]) -> list[TreeId]:
    """Trees without folders, in one git call; None stands for a file that is not there."""
    lines = [
        [f"{file.mode} blob {file.blob}\t{name}" for name, file in each.items() if file] + [""]
        for each in trees
    ]
    stdin = "".join(f"{line}\0" for each in lines for line in each).encode()
    output = repository.run("mktree", "-z", "--batch", stdin=stdin)
    return [TreeId(line) for line in output.stdout.decode().splitlines()]


def siblings(repository: Repository, base: TreeId, *trees: TreeId) -> list[CommitId]:
    """One commit per tree, all with one parent that holds ``base``; in one git call."""
    stamp = f"{IDENTITY} {FIXED_DATE}"
    who = f"author {stamp}\ncommitter {stamp}\n\n"
    parent = f"tree {base}\n{who}".encode()
    name = hashlib.sha1(b"commit %d\0" % len(parent) + parent, usedforsecurity=False).hexdigest()
    children = [f"tree {tree}\nparent {name}\n{who}".encode() for tree in trees]
    _, *written = _write(repository, "commit", [parent, *children])
    return [CommitId(each) for each in written]


def commit(
    repository: Repository, tree: TreeId, message: str, parents: Iterable[CommitId] = ()
) -> CommitId:
    """A commit with fixed identity and date, so that the same content gives the same id."""
    flags = [part for parent in parents for part in ("-p", parent)]
    output = repository.run("commit-tree", tree, *flags, stdin=message.encode())
    return CommitId(output.stdout.decode().strip())


def set_ref(repository: Repository, ref: str, value: str) -> None:
    """Point a ref at an object; hold the store's lock while calling."""
    repository.run("update-ref", "--end-of-options", ref, value)
