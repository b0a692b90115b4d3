"""What a release's wheel holds beside its source tree: compiled files, version, metadata."""

import base64
import csv
import hashlib
import platform
from pathlib import Path

from lanewright.places import Places
from lanewright.store.release import Release, wheel_of
from lanewright.store.scratch import making, settle
from lanewright.store.wheel import is_source, members
from lanewright.terminal import stage

RECORDS = "*.dist-info/RECORD"


def companions(places: Places, release: Release) -> Path:
    """Folder with a release's companions, unpacked once per release and machine.

    Appears whole or not at all.

    Raises:
        DownloadError: The wheel is not kept, and pip gave none.
        WheelError: The wheel cannot be read.
    """
    machine = platform.machine()
    folder = places.releases / f"{release.distribution}-{release.version}-{machine}"
    if folder.exists():
        return folder
    wheel = wheel_of(places, release)
    with (
        stage(f"unpacking the compiled files of {wheel.name}"),
        making(places.releases) as scratch,
    ):
        for member in members(wheel, source=False):
            target = scratch / member.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(member.content)
            target.chmod(int(member.mode[-3:], 8))
        settle(scratch, folder)
    return folder


def companion_paths(folder: Path) -> list[Path]:
    """Every file of a folder of companions, relative to it, sorted."""
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir())


def damaged(folder: Path) -> list[tuple[str, str]]:
    """Companions that are not as the wheel's own ``RECORD`` says: path, and what is wrong."""
    stated: dict[str, str] = {}
    records = sorted(path.relative_to(folder).as_posix() for path in folder.glob(RECORDS))
    for record in records:
        with (folder / record).open(newline="", encoding="utf-8", errors="replace") as stream:
            rows = [row for row in csv.reader(stream) if len(row) > 1]
        stated |= {path: digest for path, digest, *_ in rows if not is_source(path)}
    found = []
    for path, digest in stated.items():
        if not (folder / path).is_file():
            found.append((path, "is missing"))
        elif digest and _digest(folder / path) != digest:
            found.append((path, "was changed"))
    here = {path.as_posix() for path in companion_paths(folder)}
    found += [(path, "is not in RECORD") for path in here - stated.keys() - set(records)]
    return sorted(found)


def _digest(file: Path) -> str:
    """A file's hash as ``RECORD`` writes it."""
    with file.open("rb") as stream:
        raw = hashlib.file_digest(stream, "sha256").digest()
    return "sha256=" + base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
