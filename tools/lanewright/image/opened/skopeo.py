"""Images from registries and other tools' storage: copied by skopeo, byte for byte."""

from pathlib import Path

import msgspec

from lanewright.errors import LanewrightError
from lanewright.image.documents import MARKER
from lanewright.image.oci import blob_path, digest_of
from lanewright.image.opened.image import INDEXES, MANIFESTS, Typed
from lanewright.image.tool import program, run_tool


def copied(source: str, layout: Path, architecture: str | None, *flags: str) -> None:
    """Make a layout of the image that skopeo finds under a name, its manifest as it is there.

    Args:
        source: As skopeo names it, such as ``docker-archive:FILE``.
        layout: A new folder.
        architecture: As Go names it; None takes this machine's.
        flags: More of ``skopeo copy``.

    Raises:
        LanewrightError: skopeo is missing, or says no.
    """
    skopeo = _skopeo(source)
    override = [f"--override-arch={architecture}", "--override-os=linux"] if architecture else []
    folder = layout.with_name("directory")
    command = [skopeo, *override, "copy", "--preserve-digests", *flags, source, f"dir:{folder}"]
    run_tool(command, f"copy {source}")
    blobs = layout / "blobs/sha256"
    blobs.mkdir(parents=True)
    manifest = (folder / "manifest.json").read_bytes()
    digest = digest_of(manifest)
    (layout / blob_path(digest)).write_bytes(manifest)
    for file in folder.iterdir():
        if len(file.name) == len(digest) - len("sha256:"):
            file.rename(blobs / file.name)
    _write_index(layout, manifest, digest)


def with_list(source: str, layout: Path, index: str, *flags: str) -> None:
    """Put the list into a layout from which its image was chosen.

    Raises:
        LanewrightError: What is there under that name is another, or does not name the image.
    """
    content = run_tool([_skopeo(source), "inspect", "--raw", *flags, source], f"read {source}")
    if digest_of(content) != index:
        raise LanewrightError(f"{source} is {digest_of(content)}, and not the list {index}")
    (image,) = msgspec.json.decode((layout / "index.json").read_bytes(), type=Typed).manifests
    named = msgspec.json.decode(content, type=Typed)
    if image.digest not in {each.digest for each in named.manifests}:
        raise LanewrightError(f"the list {index} does not name {image.digest}")
    (layout / blob_path(index)).write_bytes(content)
    _write_index(layout, content, index)


def raw_kind(source: str, *flags: str) -> tuple[str, bool]:
    """Digest of what a name stands for, and whether that is a list of images.

    Raises:
        LanewrightError: skopeo is missing, or there is nothing.
    """
    content = run_tool([_skopeo(source), "inspect", "--raw", *flags, source], f"read {source}")
    found = msgspec.json.decode(content, type=Typed)
    return digest_of(content), found.media_type in INDEXES or bool(found.manifests)


def _skopeo(source: str) -> str:
    return program(
        "skopeo",
        f"reading {source}",
        f"hand a layout over, made where there is one: skopeo copy {source} oci:DIR",
    )


def _write_index(layout: Path, document: bytes, digest: str) -> None:
    typed = msgspec.json.decode(document, type=Typed)
    kind = typed.media_type or (INDEXES if typed.manifests else MANIFESTS)[0]
    named = {"mediaType": kind, "digest": digest, "size": len(document)}
    (layout / "oci-layout").write_bytes(MARKER)
    index = {"schemaVersion": 2, "manifests": [named]}
    (layout / "index.json").write_bytes(msgspec.json.encode(index))
