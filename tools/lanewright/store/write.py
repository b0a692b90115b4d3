"""New blobs, trees, commits and refs; few git calls, whatever the number of files."""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lanewright.store.git import FIXED_DATE, IDENTITY, Repository
from lanewright.store.objects import BlobId, CommitId, File, TreeId, object_id


@dataclass(frozen=True)
class Content:
    """A file that is not stored yet."""

    mode: str
    raw: bytes


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
    name = object_id("commit", parent)
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
    set_refs(repository, {ref: value})


def set_refs(repository: Repository, values: Mapping[str, str]) -> None:
    """Point refs at objects, all or none; hold the store's lock while calling."""
    stdin = "".join(f"update {ref} {value}\n" for ref, value in values.items())
    repository.run("update-ref", "--stdin", stdin=stdin.encode())
