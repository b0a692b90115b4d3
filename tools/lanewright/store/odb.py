"""Objects of a store read and written within this process, by libgit2: a git call costs a start."""

import hashlib
import os
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lanewright.store.git import GitError, Repository, hint
from lanewright.terminal import quoted

if TYPE_CHECKING:
    from pygit2 import Odb

# As git follows them.
MOST_ALTERNATES = 5
Kind = Literal["blob", "tree", "commit"]


class MissingObjectError(GitError):
    """The store lacks an object that was asked for by id."""


def object_id(kind: str, content: bytes) -> str:
    """The id that git gives an object of a kind (``blob``, ``commit``); nothing is stored."""
    head = f"{kind} {len(content)}\0".encode()
    return hashlib.sha1(head + content, usedforsecurity=False).hexdigest()


class Objects:
    """The object database of a repository.

    What other processes write is seen; what is absent is never fetched.

    Args:
        repository: The store.
        database: It, opened.
    """

    def __init__(self, repository: Repository, database: "Odb") -> None:
        self._repository = repository
        self._database = database
        # As text: a path object for each read would cost more than the read.
        self._folders = [os.fspath(each) for each in _object_folders(repository.path / "objects")]

    def __contains__(self, name: str) -> bool:
        return name in self._database

    def read(self, name: str) -> tuple[str, bytes]:
        """Kind and content of an object.

        Raises:
            MissingObjectError: It is not here.
            GitError: It is damaged.
        """
        for folder in self._folders:
            try:
                with open(f"{folder}/{name[:2]}/{name[2:]}", "rb", buffering=0) as file:  # noqa: PTH123
                    raw = file.read()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise self._failed(f"cannot read object {name}", error) from error
            return self._loose(name, raw)
        try:
            kind, content = self._database.read(name)
        except KeyError as error:
            raise self.missing(name) from error
        except Exception as error:  # libgit2 has no class of its own for each
            raise self._failed(f"cannot read object {name}", error) from error
        return kind.name.lower(), content

    def _loose(self, name: str, raw: bytes) -> tuple[str, bytes]:
        """An object in a file of its own; libgit2 (1.9) never ends at one that is cut short."""
        try:
            return _unpacked(name, raw)
        except (zlib.error, ValueError) as error:
            raise self._failed(f"object {name} is damaged", error) from error

    def write(self, kind: Kind, contents: Sequence[bytes]) -> list[str]:
        """Store objects; their ids in the same order.

        Raises:
            GitError: They cannot be written.
        """
        from pygit2.enums import ObjectType  # noqa: PLC0415

        try:
            return [str(self._database.write(ObjectType[kind.upper()], each)) for each in contents]
        except Exception as error:
            raise self._failed(f"cannot write a {kind}", error) from error

    def missing(self, name: str) -> MissingObjectError:
        """The error for an object that is not here."""
        return MissingObjectError(
            f"the store {self._repository.path} lacks object {name}",
            hint="bring it: lanewright fetch; what upstream still has can also be fetched anew:"
            f" rm -r {quoted(self._repository.path)}",
        )

    def _failed(self, what: str, error: Exception) -> GitError:
        told = f"{what}: {error}"
        return GitError(told, hint=hint(self._repository, told))


def _unpacked(name: str, raw: bytes) -> tuple[str, bytes]:
    head, _, content = zlib.decompress(raw).partition(b"\0")
    kind, size = head.decode().split(" ")
    if int(size) != len(content) or object_id(kind, content) != name:
        raise ValueError("it is not what its name says")
    return kind, content


def objects_of(repository: Repository) -> Objects:
    """The objects of a store, opened once.

    Raises:
        GitError: There is no store.
    """
    try:
        info = os.stat(f"{repository.path}/objects/info")  # noqa: PTH116 - asked for each object
    except OSError as error:
        raise GitError(f"{repository.path} is no repository: {error.strerror}") from error
    # One that was removed and made again at its place is another.
    return _opened(repository, info.st_ino, info.st_mtime_ns)


@lru_cache(maxsize=16)
def _opened(repository: Repository, *_made: int) -> Objects:
    # It takes 100 ms, which a command that only asks for a ref need not pay.
    from pygit2 import Odb  # noqa: PLC0415

    folder = repository.path / "objects"
    try:
        return Objects(repository, Odb(os.fspath(folder)))
    except Exception as error:
        told = f"cannot open {folder}: {error}"
        raise GitError(told, hint=hint(repository, told)) from error


def _object_folders(folder: Path, depth: int = 0) -> Iterator[Path]:
    """Where objects lie: a repository's own folder, and those that it borrows from."""
    yield folder
    alternates = folder / "info" / "alternates"
    if depth < MOST_ALTERNATES and alternates.is_file():
        for line in alternates.read_text(errors="surrogateescape").splitlines():
            if line and not line.startswith("#"):
                yield from _object_folders(folder / line, depth + 1)
