"""The files of a model that others trained, and what stands for their content."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.serve.named_weights import WEIGHTS
from lanewright.terminal import quoted

# How Hugging Face's cache lays a model out.
REPOSITORY, SNAPSHOTS, BLOBS = "models--", "snapshots", "blobs"
# Of tools that loaded or downloaded it; they change without the model.
NOT_THE_MODEL = "__pycache__"
# Read whole: tokenizers, templates, code.
SMALL = 16 * 1024 * 1024


def root_of(model: Path) -> Path:
    """The folder that holds all of a model, no part of its path a link.

    In Hugging Face's cache that is above the snapshot, whose files are links to blobs beside it.
    """
    folder = _real(model)
    root = folder.parent.parent
    cached = (
        folder.parent.name == SNAPSHOTS
        and root.name.startswith(REPOSITORY)
        and (root / BLOBS).is_dir()
    )
    return root if cached else folder


def require_within(model: Path, *, moved: bool) -> None:
    """Refuse a model whose files a container would not see that is given ``root_of`` it alone.

    Args:
        model: Its folder; one that is not on this machine has no files.
        moved: Whether the container has that folder elsewhere, where absolute links lead nowhere.

    Raises:
        LanewrightError: A link leads out of it.
    """
    folder, root = _real(model), root_of(model)
    for path in _told_of(folder):
        below = path.relative_to(folder)
        for entry in (folder / part for part in (below, *below.parents)):
            if target := _left(entry, root, moved=moved):
                raise LanewrightError(
                    f"model {model}: {entry.relative_to(folder)} is a link to {target}, which a"
                    f" container would not see: it is given {root} alone",
                    hint=f"put there what it leads to (`cp -rL {quoted(model)} ELSEWHERE` follows links),"
                    " and say that folder as `model` in [image.run] of the lane's series",
                )


def _left(entry: Path, root: Path, *, moved: bool) -> Path | None:
    """Where a link leads outside of a folder, by itself or by another link."""
    while entry.is_symlink():
        target = entry.readlink()
        entry = Path(os.path.normpath(_real(entry.parent) / target))
        if not entry.is_relative_to(root) or (moved and target.is_absolute()):
            return entry
    return None


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the files of a model in order, those of subfolders and of links to folders among them.

    Each folder's are told once: below its own name if it has one there, else below the first link.

    Raises:
        OSError: A folder cannot be read.
    """
    return (path for path in _told_of(folder) if path.is_file())


def _told_of(folder: Path) -> Iterator[Path]:
    """Yield files, and each other way to a folder whose files are told elsewhere, in order.

    Of folders that link to each other there are more ways than could ever be gone.
    """
    if not folder.is_dir():
        return
    seen = set(_own(_real(folder)))
    waiting = [(path, False) for path in sorted(folder.iterdir(), reverse=True)]
    while waiting:
        path, linked = waiting.pop()
        if path.is_file():
            yield path
        elif path.is_dir() and _may_be_the_model(path.name):
            linked, real = linked or path.is_symlink(), _real(path)
            if not linked or real not in seen:
                seen.add(real)
                waiting += [(each, linked) for each in sorted(path.iterdir(), reverse=True)]
            elif not _real(path.parent).is_relative_to(real):
                yield path


def _own(folder: Path) -> Iterator[Path]:
    """Yield a folder and those that are below it by their own names."""
    waiting = [folder]
    while waiting:
        yield (path := waiting.pop())
        with os.scandir(path) as entries:
            waiting += [
                Path(each)
                for each in entries
                if each.is_dir(follow_symlinks=False) and _may_be_the_model(each.name)
            ]


def _may_be_the_model(name: str) -> bool:
    """Whether a folder that is called so is no tool's."""
    return not name.startswith(".") and name != NOT_THE_MODEL


def named_hash(folder: Path, *, times: bool = False) -> str:
    """SHA-256 that stands for a model's content, in milliseconds.

    Of weights it takes names and sizes, and in Hugging Face's cache the blob's name, which is its
    content's hash; small files are read.

    Args:
        folder: With the model.
        times: Whether the hour counts at which a file was written that is neither a blob nor
            read: weights of the same size may have been trained on.

    Raises:
        OSError: It cannot be read.
    """
    root, digest = root_of(folder), hashlib.sha256()
    blobs = root / BLOBS if root != _real(folder) else None
    for path in _told_of(folder):
        digest.update(os.fsencode(path.relative_to(folder)))
        told = (
            _told(path, blobs, times=times)
            if path.is_file()
            else os.path.relpath(_real(path), _real(folder))
        )
        digest.update(f"\0{told}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _told(file: Path, blobs: Path | None, *, times: bool) -> str:
    """What stands for a file's content."""
    target = _real(file)
    if file.is_symlink() and target.parent == blobs:
        return target.name
    info = file.stat()
    if file.suffix == ".json" or (info.st_size <= SMALL and file.suffix not in WEIGHTS):
        return hashlib.sha256(file.read_bytes()).hexdigest()
    return f"{info.st_size} {info.st_mtime_ns}" if times else f"{info.st_size}"


def _real(path: Path) -> Path:
    # pathlib's own raises where links go round in a circle.
    return Path(os.path.realpath(path))
