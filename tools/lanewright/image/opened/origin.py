"""A base image by what a person hands over: a layout, an archive, or a tool's own storage."""

import shutil
import tarfile
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.image.oci import MEMBER
from lanewright.image.opened.bounded import bounded, members_of
from lanewright.image.opened.image import OpenImage, open_image
from lanewright.image.opened.kept import keep
from lanewright.image.opened.skopeo import copied
from lanewright.places import Places
from lanewright.store.scratch import making

STORAGE = "containers-storage:"


def brought(
    places: Places, given: str, architecture: str | None, *, anew: bool = False
) -> OpenImage:
    """Bring an image into the store, as a layout of one platform.

    Args:
        places: Where base images are kept.
        given: Folder of an OCI layout; archive as ``podman save`` or ``docker save`` write them; or
            ``containers-storage:NAME``.
        architecture: As Go names it; None takes the only one that there is.
        anew: Whether it takes the place of what the store has of it.

    Raises:
        LanewrightError: There is no such image, it is damaged, or a tool is missing that reads it.
    """
    if given.startswith(STORAGE):
        with making(places.base_images) as scratch:
            copied(given, scratch / "layout", architecture)
            return keep(places, open_image(scratch / "layout", architecture), anew=anew)
    path = Path(given).absolute()
    if path.is_dir():
        return keep(places, open_image(path, architecture), anew=anew)
    if not path.exists():
        raise LanewrightError(
            f"there is no base image {given}",
            hint="name the folder of an OCI layout, an archive of `podman save` or `docker save`, or"
            f" {STORAGE}NAME",
        )
    if not path.is_file():
        raise LanewrightError(
            f"base image {given} is no regular file: a pipe or a device has no end",
            hint="write it to a file, or name the folder of an OCI layout",
        )
    with making(places.base_images) as scratch:
        layout = scratch / "layout"
        if _has_layout(path):
            _unpack(path, layout)
        else:
            # A colon in a path would end it for skopeo.
            (scratch / "archive.tar").symlink_to(path)
            copied("docker-archive:archive.tar", layout, architecture, folder=scratch, named=given)
        return keep(places, open_image(layout, architecture), anew=anew)


def _has_layout(archive: Path) -> bool:
    try:
        with tarfile.open(archive, tarinfo=bounded()) as opened:
            names = {info.name.removeprefix("./") for info in members_of(opened)}
    except (OSError, EOFError, ValueError, tarfile.TarError) as error:
        raise LanewrightError(f"{archive} is no archive of an image: {error}") from error
    if "index.json" not in names and "manifest.json" not in names:
        raise LanewrightError(f"{archive} is no archive of an image: it has no index.json")
    return "index.json" in names and "oci-layout" in names


def _unpack(archive: Path, layout: Path) -> None:
    layout.mkdir()
    try:
        with tarfile.open(archive, tarinfo=bounded()) as opened:
            for info in members_of(opened):
                name = info.name.removeprefix("./")
                source = (
                    opened.extractfile(info) if info.isreg() and MEMBER.fullmatch(name) else None
                )
                # Links and names that lead out are no part of a layout.
                if source:
                    (layout / name).parent.mkdir(parents=True, exist_ok=True)
                    with (layout / name).open("wb") as place:
                        shutil.copyfileobj(source, place)
    except (OSError, EOFError, ValueError, tarfile.TarError) as error:
        raise LanewrightError(f"{archive} cannot be unpacked: {error}") from error
