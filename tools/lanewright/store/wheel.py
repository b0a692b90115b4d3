"""A wheel as a source of code: its name, whom it suits, and its ``vllm/`` tree."""

import email
import lzma
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.tags import sys_tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from lanewright.errors import LanewrightError
from lanewright.store.safepath import check

PACKAGE = "vllm/"
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
    *(EOFError, RuntimeError, ValueError, OSError),
)
VERSION_FILE = "vllm/_version.py"


class WheelError(LanewrightError):
    """A wheel is not what its name says, or not for this machine."""


@dataclass(frozen=True)
class Member:
    """One file of a wheel: path, git mode and content."""

    path: str
    mode: str
    content: bytes


@dataclass(frozen=True)
class WheelName:
    """What a wheel's file name says."""

    distribution: str
    version: str
    suits_this_machine: bool
    tags: str


def name_of(wheel: Path) -> WheelName:
    """Read a wheel's file name.

    Raises:
        WheelError: It is no wheel's name.
    """
    try:
        distribution, version, _, tags = parse_wheel_filename(wheel.name)
    except InvalidWheelFilename as error:
        raise WheelError(f"{wheel}: not a wheel's file name: {error}") from error
    suits = not tags.isdisjoint(sys_tags())
    return WheelName(distribution, str(version), suits, ".".join(sorted(map(str, tags))))


def is_source(path: str) -> bool:
    """Whether a member belongs to the tree that patches apply to.

    Compiled files differ between machines and ``_version.py`` is written at build time, so both
    stay out: the same release gives the same tree on every architecture.
    """
    return path.startswith(PACKAGE) and not path.endswith(".so") and path != VERSION_FILE


def members(wheel: Path, *, source: bool) -> Iterator[Member]:
    """Files of a wheel: its source tree, or everything beside it.

    Raises:
        WheelError: The file is damaged or no zip archive.
        UnsafePathError: A member would leave the folder it is unpacked to.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            _require_honest(wheel, archive)
            for info in archive.infolist():
                if info.is_dir() or is_source(info.filename) is not source:
                    continue
                path = check(info.filename, source=wheel.name)
                if stat.S_ISLNK(info.external_attr >> 16):
                    raise WheelError(
                        f"{wheel.name}: {path} is a symlink, which a wheel may not hold"
                    )
                executable = (info.external_attr >> 16) & stat.S_IXUSR
                yield Member(path, "100755" if executable else "100644", archive.read(info))
    except DAMAGE as error:
        raise WheelError(
            f"{wheel}: cannot be read: {error}",
            hint="get the wheel again; one in the store may be removed, it is downloaded when needed",
        ) from error


def _require_honest(wheel: Path, archive: zipfile.ZipFile) -> None:
    """A wheel must be what its file name says, and hold each path once.

    Raises:
        WheelError: It is not, or does not.
    """
    most, count = Counter(archive.namelist()).most_common(1)[0] if archive.namelist() else ("", 0)
    if count > 1:
        raise WheelError(f"{wheel.name}: holds {most} more than once")
    named = name_of(wheel)
    for path in archive.namelist():
        if path.count("/") == 1 and path.endswith(".dist-info/METADATA"):
            fields = email.message_from_bytes(archive.read(path))
            own = (canonicalize_name(fields["Name"] or ""), fields["Version"])
            if own != (named.distribution, named.version):
                raise WheelError(f"{wheel.name}: says inside that it is {own[0]} {own[1]}")
            return
    raise WheelError(f"{wheel.name}: has no METADATA, so it is no wheel")


def require_whole(wheel: Path) -> None:
    """Read every member of a wheel, so that damage shows before anything is kept of it.

    Raises:
        WheelError: One cannot be read.
    """
    for source in (True, False):
        for _ in members(wheel, source=source):
            pass
