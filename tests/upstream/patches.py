"""Own patches on disk: by real git, or written by hand."""

from collections.abc import Mapping
from pathlib import Path

from lanewright.queue.patch.patchfile import Patch, read
from tests.upstream.diff import own_patch


def made(
    folder: Path, before: Mapping[str, bytes], after: Mapping[str, bytes], *flags: str
) -> Patch:
    """A patch by real git, read back."""
    file = folder / "made.patch"
    file.write_bytes(own_patch(folder / "scratch", before, after, *flags, base="release:1.0"))
    return read(file)


def written(folder: Path, content: bytes) -> Path:
    file = folder / "hand.patch"
    file.write_bytes(content)
    return file
