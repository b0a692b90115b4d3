"""What an archive has in it, in order: small documents, and blobs as they lie in a layout."""

import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from lanewright.image.oci import blob_path
from lanewright.image.opened.image import OpenImage, blob


@dataclass(frozen=True)
class ArchiveMember:
    """A file or a folder of an archive.

    Attributes:
        path: Its name there.
        content: Its bytes, the file that has them, or None for a folder.
    """

    path: str
    content: bytes | Path | None

    @property
    def size(self) -> int:
        """Bytes."""
        if isinstance(self.content, Path):
            return self.content.stat().st_size
        return len(self.content or b"")

    @property
    def kind(self) -> bytes:
        """As a tar header names it."""
        return tarfile.DIRTYPE if self.content is None else tarfile.REGTYPE


def oci_members(image: OpenImage, _: str) -> Iterator[ArchiveMember]:
    """The layout itself, by name."""
    folders = {parent for path in _files(image.folder) for parent in path.parents}
    for path in sorted({*_files(image.folder), *folders} - {Path()}, key=Path.as_posix):
        content = None if path in folders else image.folder / path
        yield ArchiveMember(path.as_posix(), content)


def _files(folder: Path) -> list[Path]:
    return [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]


def docker_members(image: OpenImage, tag: str) -> Iterator[ArchiveMember]:
    """What ``docker load`` reads: its list of one image, the configuration, layers as they are.

    A layer that the base has compressed stays so; docker, podman and skopeo unpack it.
    """
    config = f"{image.config_blob.digest.removeprefix('sha256:')}.json"
    paths = [blob_path(layer.blob.digest) for layer in image.layers]
    listed = [{"Config": config, "RepoTags": [tag], "Layers": paths}]
    members = [
        ArchiveMember("blobs", None),
        ArchiveMember("blobs/sha256", None),
        ArchiveMember("manifest.json", msgspec.json.encode(listed)),
        ArchiveMember(config, blob(image.folder, image.config_blob)),
        *(ArchiveMember(path, image.folder / path) for path in dict.fromkeys(paths)),
    ]
    yield from sorted(members, key=lambda member: member.path)


MEMBERS: dict[str, Callable[[OpenImage, str], Iterator[ArchiveMember]]] = {
    "oci": oci_members,
    "docker": docker_members,
}
