"""Base images that a test makes: layouts as buildah, docker and others write them."""

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard

from lanewright.queue.lock import Lock
from lanewright.store.git import Repository
from lanewright.store.objects import files, read_blobs
from tests.image.conftest import ROOT

OCI = "application/vnd.oci.image"
DOCKER = "application/vnd.docker"
VERSION = b"__version__ = version = '1.1'\n__version_tuple__ = version_tuple = (1, 1)\n"
# A file's content, a link's target behind "->", or None for a folder.
Paths = Mapping[str, bytes | str | None]


def archive(paths: Paths) -> bytes:
    """A layer as a tool of others writes it: with folders, owners and times of its own."""
    buffer = io.BytesIO()
    with tarfile.open(
        fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape"
    ) as made:
        for path, content in paths.items():
            info = tarfile.TarInfo(f"./{path}")
            info.mtime, info.uid, info.mode = 1_700_000_000, 7, 0o644
            if content is None:
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                made.addfile(info)
            elif isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
                made.addfile(info)
            else:
                info.size = len(content)
                made.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


PACK: dict[str, Callable[[bytes], bytes]] = {
    "": lambda content: content,
    "gzip": lambda content: gzip.compress(content, mtime=0),
    "zstd": zstandard.compress,
}


@dataclass
class Base:
    """A base image.

    Attributes:
        layers: The lowest first; bytes are an archive as it is.
        packed: How they are compressed.
        architectures: A list is made where there are several; each has a layer of its own on top.
        docker: Whether its documents are of Docker's own kind.
        run: What a container is run with.
    """

    layers: Sequence[Paths | bytes]
    packed: str = ""
    architectures: Sequence[str] = ("amd64",)
    docker: bool = False
    run: Mapping[str, Any] = field(default_factory=lambda: {"Entrypoint": ["vllm", "serve"]})

    def lay(self, folder: Path) -> Path:
        """Write it as a layout."""
        (folder / "blobs/sha256").mkdir(parents=True)
        manifests = [self._manifest(folder, each) for each in self.architectures]
        if len(manifests) > 1:
            kind = (
                f"{DOCKER}.distribution.manifest.list.v2+json"
                if self.docker
                else f"{OCI}.index.v1+json"
            )
            index = {"schemaVersion": 2, "mediaType": kind, "manifests": manifests}
            manifests = [keep(folder, kind, json.dumps(index).encode())]
        (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": manifests}))
        (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
        return folder

    def _manifest(self, folder: Path, architecture: str) -> dict[str, Any]:
        contents = [each if isinstance(each, bytes) else archive(each) for each in self.layers]
        contents.append(archive({"etc/machine": architecture.encode()}))
        layer, ending = f"{OCI}.layer.v1.tar", f"+{self.packed}" if self.packed else ""
        if self.docker:
            layer, ending = f"{DOCKER}.image.rootfs.diff.tar", f".{self.packed}"
        layers = [keep(folder, f"{layer}{ending}", PACK[self.packed](each)) for each in contents]
        config = {
            "created": "2026-09-28T06:00:00Z",
            "architecture": architecture,
            "os": "linux",
            "config": {**self.run, "Labels": {"maker": "others", **self.run.get("Labels", {})}},
            "rootfs": {"type": "layers", "diff_ids": [name(each) for each in contents]},
            "history": [{"created_by": "others"} for _ in contents],
        }
        kind = f"{DOCKER}.container.image.v1+json" if self.docker else f"{OCI}.config.v1+json"
        document = {
            "schemaVersion": 2,
            "config": keep(folder, kind, json.dumps(config).encode()),
            "layers": layers,
        }
        kind = (
            f"{DOCKER}.distribution.manifest.v2+json" if self.docker else f"{OCI}.manifest.v1+json"
        )
        document["mediaType"] = kind
        platform = {"architecture": architecture, "os": "linux"}
        return {**keep(folder, kind, json.dumps(document).encode()), "platform": platform}


def name(content: bytes) -> str:
    """What a blob is called."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def keep(folder: Path, kind: str, content: bytes) -> dict[str, Any]:
    """Put a blob into a layout, and describe it."""
    (folder / "blobs" / name(content).replace(":", "/")).write_bytes(content)
    return {"mediaType": kind, "digest": name(content), "size": len(content)}


def of_pin(repository: Repository, lock: Lock, root: str = ROOT) -> dict[str, bytes | str | None]:
    """The paths of a layer that has a lane's pin as a wheel of it has it."""
    found = files(repository, lock.pin.tree)
    contents = read_blobs(repository, [file.blob for file in found.values()])
    folders: dict[str, bytes | str | None] = {}
    at = ""
    for part in root.split("/"):
        at = f"{at}/{part}".removeprefix("/")
        folders[at] = None
    return {
        **folders,
        **{
            f"{root}/{path}": contents[file.blob].decode()
            if file.mode == "120000"
            else contents[file.blob]
            for path, file in found.items()
        },
        f"{root}/vllm/_version.py": VERSION,
        f"{root}/vllm/_C.abi3.so": b"\x7fELF",
        "etc/os-release": b'PRETTY_NAME="A small one"\n',
        "var/lib/dpkg/status": DPKG,
    }


DPKG = b"""\
Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.36-9

"""
