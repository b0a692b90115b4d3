"""Blobs, trees and commits as they are read; every name is a full object id."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NewType

from lanewright.errors import LanewrightError
from lanewright.store.git import Repository

BlobId = NewType("BlobId", str)
TreeId = NewType("TreeId", str)
CommitId = NewType("CommitId", str)

NO_BLOB = BlobId("0" * 40)
# Above it, one command line could not hold the paths.
MOST_ARGUMENTS = 500
FULL_ID = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class File:
    """One file of a tree: its mode (``100644``, ``100755``, ``120000``) and its content's id."""

    mode: str
    blob: BlobId


def blob_id(content: bytes) -> BlobId:
    """The id that git gives a blob; nothing is stored."""
    return BlobId(object_id("blob", content))


def object_id(kind: str, content: bytes) -> str:
    """The id that git gives an object of a kind (``blob``, ``commit``); nothing is stored."""
    head = f"{kind} {len(content)}\0".encode()
    return hashlib.sha1(head + content, usedforsecurity=False).hexdigest()


class MissingObjectError(LanewrightError):
    """The store lacks an object that was asked for by id."""


def _text(raw: bytes) -> str:
    """Paths are bytes to git; as text they survive a round trip through surrogates."""
    return raw.decode("utf-8", "surrogateescape")


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


def trees_of(repository: Repository, names: Iterable[str]) -> list[TreeId | None]:
    """The tree of each commit, in one git call; None for what stands for no commit here.

    Args:
        repository: The store; it may be just in the making.
        names: Refs or ids without blanks.
    """
    wanted = list(names)
    stdin = "".join(f"{name}^{{commit}}^{{tree}}\n" for name in wanted).encode()
    output = repository.run("cat-file", "--batch-check=%(objectname)", stdin=stdin, ok=(0, 128))
    lines = output.stdout.decode().splitlines()
    # It ends at the first object that a partial clone has left at its remote.
    lines += [""] * (len(wanted) - len(lines))
    return [TreeId(line) if FULL_ID.fullmatch(line) else None for line in lines]


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
    found = _files(repository, tree, tuple(wanted))
    return {path: file for path, file in found.items() if not wanted or path in wanted}


def at_or_below(repository: Repository, tree: TreeId, paths: Iterable[str]) -> dict[str, File]:
    """Files of a tree at these paths, and in folders of these names."""
    return dict(_files(repository, tree, tuple(paths)))


@lru_cache(maxsize=64)
def _files(repository: Repository, tree: TreeId, paths: tuple[str, ...]) -> dict[str, File]:
    """All files, or those at or below ``paths``; a tree never changes, so it is asked for once."""
    if len(paths) > MOST_ARGUMENTS:
        wanted = frozenset(paths)
        everything = _files(repository, tree, ())
        return {
            path: everything[path]
            for path in everything
            if not wanted.isdisjoint([path, *folders(path)])
        }
    output = repository.run("ls-tree", "-r", "-z", "--full-tree", tree, "--", *paths)
    found = {}
    for record in output.stdout.split(b"\0")[:-1]:
        head, _, path = record.partition(b"\t")
        mode, _, blob = head.decode().split(" ")
        if _text(path) in found:
            raise LanewrightError(f"tree {tree} has {_text(path)!r} twice, so it is no sound tree")
        found[_text(path)] = File(mode, BlobId(blob))
    return found


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
    batch = ("cat-file", "--batch", "--buffer")
    output = repository.run(*batch, stdin=stdin, ok=(0, 128))
    if output.status:  # of a partial clone, or damaged
        for blob in lacking(repository, wanted):
            raise _missing(repository, blob)
        output = repository.run(*batch, stdin=stdin)
    stream = output.stdout
    contents: dict[BlobId, bytes] = {}
    at = 0
    for blob in wanted:
        end = stream.index(b"\n", at)
        fields = stream[at:end].split(b" ")
        if fields[-1] == b"missing":
            raise _missing(repository, blob)
        size = int(fields[2])
        contents[blob] = stream[end + 1 : end + 1 + size]
        at = end + size + 2
    return contents


def lacking(repository: Repository, ids: Iterable[BlobId]) -> list[BlobId]:
    """Of these blobs, the ones that are not in the store; in one git call, which fetches nothing."""
    wanted = list(dict.fromkeys(ids))
    # cat-file ends at the first object that a partial clone has left at its remote.
    flags = ("--no-walk", "--objects", "--no-object-names", "--ignore-missing")
    stdin = "".join(f"{i}\n" for i in wanted).encode()
    output = repository.run("rev-list", *flags, "--missing=allow-any", "--stdin", stdin=stdin)
    here = set(output.stdout.decode().split())
    return [i for i in wanted if i not in here]


def _missing(repository: Repository, name: str) -> MissingObjectError:
    return MissingObjectError(
        f"the store {repository.path} lacks object {name}",
        hint="bring it: lanewright fetch; everything in the store can also be made again:"
        f" rm -r {repository.path}",
    )
