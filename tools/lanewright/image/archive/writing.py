"""Write an image's archive and its papers, all of them or none."""

import errno
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.image.archive.members import MEMBERS
from lanewright.image.archive.streamed import write_archive
from lanewright.image.bill.materials import materials
from lanewright.image.bill.provenance import provenance
from lanewright.image.container.engine import image_name
from lanewright.image.onto.making import Made
from lanewright.image.opened.contents import contents_of
from lanewright.image.opened.image import open_image
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.lock import Lock
from lanewright.queue.series import load_series
from lanewright.store.atomic import sync_folder
from lanewright.store.scratch import making
from lanewright.terminal import say, stage

MIB = 2**20
HOST = "localhost/"


@dataclass(frozen=True)
class Archived:
    """An archive on disk.

    Attributes:
        file: Where it is.
        sha256: Of all of it, in hex.
        size: Bytes.
        papers: What lies beside it: its bill of materials and its provenance.
    """

    file: Path
    sha256: str
    size: int
    papers: tuple[Path, ...]


def archived(
    project: Project, places: Places, lock: Lock, made: Made, folder: Path, form: str
) -> Archived:
    """Write an image as one file; equal images give equal bytes.

    Each file is replaced in one step, and none before all are written: the archive last, so that
    what is beside it is never older.

    Args:
        project: Has the list that the lane's environment is installed from.
        places: The store.
        lock: Of the lane.
        made: Its image.
        folder: Where; it need not be there.
        form: ``oci`` or ``docker``.

    Raises:
        LanewrightError: It cannot be written.
    """
    image = open_image(made.folder, None)
    requirements = project.environments / f"{load_series(project, lock.lane).device}.txt"
    bill = materials(lock, made, contents_of(places, image), requirements)
    name = f"{lock.lane}.{form}.tar"
    tag = image_name(lock).removeprefix(HOST)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with making(folder) as scratch:
            with stage(f"writing {name}, {made.size / MIB:,.1f} MiB"):
                sha256 = write_archive(MEMBERS[form](image, tag), scratch / name)
            size = (scratch / name).stat().st_size
            papers = {f"{lock.lane}.cdx.json": bill}
            told = {each: hashlib.sha256(content).hexdigest() for each, content in papers.items()}
            papers[f"{lock.lane}.{form}.provenance.json"] = provenance(
                lock, made, name, sha256, told
            )
            for each, content in papers.items():
                (scratch / each).write_bytes(content)
            _settle(scratch, folder, [*papers, name])
    except OSError as error:
        raise LanewrightError(
            f"cannot write the archive {folder / name}: {error.strerror}"
        ) from error
    say(f"lane {lock.lane}: {folder / name}, {size / MIB:,.1f} MiB, sha256 {sha256}")
    return Archived(folder / name, sha256, size, tuple(folder / each for each in papers))


def _settle(scratch: Path, folder: Path, names: list[str]) -> None:
    for name in names:
        if (folder / name).is_dir():
            raise OSError(errno.EISDIR, f"{name} is a folder there")
        with (scratch / name).open("rb") as stream:
            os.fsync(stream.fileno())
    for name in names:
        (scratch / name).replace(folder / name)
    sync_folder(folder)
