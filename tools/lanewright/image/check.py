"""Read a layout as any reader would, from its index on, and compare it with its lock."""

import os
from pathlib import Path

from lanewright.errors import MismatchError
from lanewright.image import oci
from lanewright.image.content import wrong_members
from lanewright.image.documents import documents, layer_stamps
from lanewright.image.reading import Reading
from lanewright.queue.lock import Lock, layer_of
from lanewright.store.git import Repository
from lanewright.terminal import quoted


def require_intact_layout(
    repository: Repository, lock: Lock, folder: Path, *, made: Path | None = None
) -> None:
    """Compare a layout with its lock.

    Args:
        repository: Holds the lock's tree.
        lock: With a layer.
        folder: The layout.
        made: Where it is before it is put into that folder.

    Raises:
        MismatchError: They differ; the message names each difference.
    """
    found = differences(repository, lock, made or folder)
    if found:
        remove = "" if made else f"rm -r {quoted(folder)} && "
        told = "\n".join(f"  {each}" for each in found)
        raise MismatchError(
            f"lane {lock.lane}: {folder} is not the image of its lock:\n{told}",
            hint=f"it is made again: {remove}lanewright image {lock.lane}",
        )


def differences(repository: Repository, lock: Lock, folder: Path) -> list[str]:
    """Where a layout is not that of a lock; empty if it is.

    Every blob has the size and digest by which it is named, every document agrees with those that
    it names, nothing else is there, and the layer unpacked over the pin gives the lane's tree.
    """
    reading = Reading(folder, set(), [])
    index = reading.decode("index.json", reading.file("index.json"), oci.Index)
    for image in index.manifests if index else ():
        platforms = reading.document(image, oci.Index, "index")
        for each in platforms.manifests if platforms else ():
            _read_image(reading, repository, lock, each)
    expected = documents(lock)
    for path in ("index.json", "oci-layout"):
        content = reading.file(path)
        if content not in {None, expected[path]}:
            reading.tell(f"{path} is not what the lock gives")
    on_disk = {
        Path(inside, name).relative_to(folder).as_posix()
        for inside, folders, names in os.walk(folder)
        for name in [*names, *(f for f in folders if Path(inside, f).is_symlink())]
    }
    for path in sorted(on_disk - reading.reached):
        reading.tell(f"{path} is a stray file: no document leads to it")
    return reading.told


def _read_image(
    reading: Reading, repository: Repository, lock: Lock, descriptor: oci.Descriptor
) -> None:
    platform = descriptor.platform
    name = platform.architecture if platform else "an image without platform"
    manifest = reading.document(descriptor, oci.Manifest, f"manifest of {name}")
    if not manifest:
        return
    config = reading.document(manifest.config, oci.Config, f"configuration of {name}")
    digests = [layer.digest for layer in manifest.layers]
    if config and config.rootfs.diff_ids != digests:
        reading.tell(f"{name}: configuration and manifest name different layers")
    if config and oci.Platform(architecture=config.architecture, os=config.os) != platform:
        reading.tell(f"{name}: the configuration is that of {config.architecture}")
    if {*digests} != {layer_of(lock).digest}:
        reading.tell(
            f"{name}: its layer is {', '.join(digests) or 'none'}, not {layer_of(lock).digest}"
        )
    said = layer_stamps(lock)
    for what, found in [
        ("annotations", manifest.annotations),
        ("labels", config.config.labels if config else said),
    ]:
        for key in sorted(k for k in said.keys() | found.keys() if said.get(k) != found.get(k)):
            reading.tell(
                f"{name}: among its {what}, {key} is {found.get(key)!r}, not {said.get(key)!r}"
            )
    for layer in manifest.layers:
        content = reading.blob(layer, "layer")
        for each in wrong_members(repository, lock, content) if content is not None else ():
            reading.tell(each)
