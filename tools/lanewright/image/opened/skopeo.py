"""Images from registries and other tools' storage: copied by skopeo, byte for byte."""

import re
from pathlib import Path

import msgspec

from lanewright.errors import LanewrightError, MismatchError
from lanewright.image.documents import MARKER
from lanewright.image.oci import blob_path, digest_of
from lanewright.image.opened.image import INDEXES, MANIFESTS, typed
from lanewright.image.tool import program, run_tool

# Of a document; and of an image of tens of GB, on a line that is slow and not one that is dead.
READ_SECONDS, COPY_SECONDS = 120.0, 6 * 3600.0
# As Go says that a connection came to nothing.
UNREACHED = re.compile(
    r"dial tcp|proxyconnect|no such host|connection (refused|reset)|i/o timeout"
    r"|TLS handshake timeout|network is unreachable|no route to host|Client\.Timeout"
    r"|toomanyrequests|status code: 5\d\d"
)


def copied(
    source: str,
    layout: Path,
    architecture: str | None,
    *flags: str,
    folder: Path | None = None,
    named: str | None = None,
) -> None:
    """Make a layout of the image that skopeo finds under a name, its manifest as it is there.

    Args:
        source: As skopeo names it, such as ``docker-archive:FILE``.
        layout: A new folder.
        architecture: As Go names it; None takes this machine's.
        flags: More of ``skopeo copy``.
        folder: In which it runs.
        named: What the source is called in messages; by default as skopeo names it.

    Raises:
        LanewrightError: skopeo is missing, or says no.
    """
    skopeo, what = _skopeo(source), named or source
    override = [f"--override-arch={architecture}", "--override-os=linux"] if architecture else []
    place = layout.with_name("directory")
    command = [skopeo, *override, "copy", "--preserve-digests", *flags, source, f"dir:{place}"]
    run_tool(command, f"copy {what}", folder=folder, seconds=COPY_SECONDS, unreached=UNREACHED)
    blobs = layout / "blobs/sha256"
    blobs.mkdir(parents=True)
    try:
        manifest = (place / "manifest.json").read_bytes()
        digest = digest_of(manifest)
        (layout / blob_path(digest)).write_bytes(manifest)
        for file in place.iterdir():
            if len(file.name) == len(digest) - len("sha256:"):
                file.rename(blobs / file.name)
    except OSError as error:
        raise LanewrightError(f"skopeo left no whole image of {what}: {error}") from error
    _write_index(layout, manifest, digest, what)


def with_list(source: str, layout: Path, index: str, *flags: str) -> None:
    """Put the list into a layout from which its image was chosen.

    Raises:
        MismatchError: What is there under that name is another.
        LanewrightError: It does not name the image, or is no list.
    """
    content = _document(source, index, *flags)
    (image,) = typed((layout / "index.json").read_bytes(), str(layout)).manifests
    if image.digest not in {each.digest for each in typed(content, source).manifests}:
        raise LanewrightError(f"the list {index} does not name {image.digest}")
    (layout / blob_path(index)).write_bytes(content)
    _write_index(layout, content, index, source)


def is_list(source: str, digest: str, *flags: str) -> bool:
    """Whether what has a name and that digest is a list of images.

    Raises:
        MismatchError: What is there has another digest.
        LanewrightError: skopeo is missing, or there is nothing, or what is no image's.
    """
    found = typed(_document(source, digest, *flags), source)
    return found.media_type in INDEXES or bool(found.manifests)


def _document(source: str, digest: str, *flags: str) -> bytes:
    command = [_skopeo(source), "inspect", "--raw", *flags, source]
    content = run_tool(command, f"read {source}", seconds=READ_SECONDS, unreached=UNREACHED)
    # Nothing of what a registry answers is read before that.
    if digest_of(content) != digest:
        raise MismatchError(f"{source} is {digest_of(content)}, and not {digest}")
    return content


def _skopeo(source: str) -> str:
    return program(
        "skopeo",
        f"reading {source}",
        f"hand a layout over, made where there is one: skopeo copy {source} oci:DIR",
    )


def _write_index(layout: Path, document: bytes, digest: str, source: str) -> None:
    found = typed(document, source)
    kind = found.media_type or (INDEXES if found.manifests else MANIFESTS)[0]
    named = {"mediaType": kind, "digest": digest, "size": len(document)}
    (layout / "oci-layout").write_bytes(MARKER)
    index = {"schemaVersion": 2, "manifests": [named]}
    (layout / "index.json").write_bytes(msgspec.json.encode(index))
