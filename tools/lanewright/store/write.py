"""New blobs, commits and refs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lanewright.store.git import FIXED_DATE, IDENTITY, Repository
from lanewright.store.objects import EMPTY, BlobId, CommitId, File, TreeId
from lanewright.store.odb import object_id, objects_of


@dataclass(frozen=True)
class Content:
    """A file that is not stored yet."""

    mode: str
    raw: bytes


def write_blobs(repository: Repository, contents: Sequence[bytes]) -> list[BlobId]:
    """Store blobs; their ids in the same order."""
    return [BlobId(name) for name in objects_of(repository).write("blob", contents)]


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


def siblings(repository: Repository, base: TreeId, *trees: TreeId) -> list[CommitId]:
    """One commit per tree, all with one parent that holds ``base``."""
    parent = _commit(base, "")
    name = CommitId(object_id("commit", parent))
    children = [_commit(tree, "", [name]) for tree in trees]
    _, *written = objects_of(repository).write("commit", [parent, *children])
    return [CommitId(each) for each in written]


def commit(
    repository: Repository, tree: TreeId, message: str, parents: Iterable[CommitId] = ()
) -> CommitId:
    """A commit with fixed identity and date, so that the same content gives the same id."""
    objects = objects_of(repository)
    above = list(parents)
    for name in (tree, *above):
        if name not in objects and name != EMPTY:
            raise objects.missing(name)
    [written] = objects.write("commit", [_commit(tree, message, above)])
    return CommitId(written)


def _commit(tree: TreeId, message: str, parents: Iterable[CommitId] = ()) -> bytes:
    stamp = f"{IDENTITY} {FIXED_DATE}"
    above = "".join(f"parent {parent}\n" for parent in parents)
    return f"tree {tree}\n{above}author {stamp}\ncommitter {stamp}\n\n{message}".encode()


def set_ref(repository: Repository, ref: str, value: str) -> None:
    """Point a ref at an object; hold the store's lock while calling."""
    set_refs(repository, {ref: value})


def set_refs(repository: Repository, values: Mapping[str, str]) -> None:
    """Point refs at objects, all or none; hold the store's lock while calling."""
    stdin = "".join(f"update {ref} {value}\n" for ref, value in values.items())
    repository.run("update-ref", "--stdin", stdin=stdin.encode())
