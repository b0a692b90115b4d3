"""An image in the storage of buildah, podman or another tool: its documents, by skopeo."""

import re

import msgspec

from lanewright.errors import LanewrightError
from lanewright.image.inspect.seen import Seen, seen
from lanewright.image.oci import Digest, digest_of
from lanewright.image.opened.skopeo import READ_SECONDS
from lanewright.image.tool import program, run_tool

FATAL = re.compile(r'level=fatal msg="((?:[^"\\]|\\.)*)"')
UNKNOWN = "does not resolve to an image ID"


class _Blob(msgspec.Struct, frozen=True):
    digest: Digest
    size: int


class _Manifest(msgspec.Struct, frozen=True):
    config: _Blob
    layers: list[_Blob]


def in_storage(source: str) -> Seen:
    """An image under a name that skopeo knows, such as ``containers-storage:NAME``.

    Raises:
        LanewrightError: skopeo is missing, or there is no such image.
    """
    skopeo = program("skopeo", f"reading {source}")
    raw = _manifest(skopeo, source)
    command = [skopeo, "inspect", "--raw", "--config", source]
    config = run_tool(command, f"read the configuration of {source}", seconds=READ_SECONDS)
    try:
        manifest = msgspec.json.decode(raw, type=_Manifest)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise LanewrightError(f"{source}: its manifest cannot be read: {error}") from error
    layers = [(each.digest, each.size) for each in manifest.layers]
    return seen(source, config, digest_of(config), layers, digest_of(raw))


def _manifest(skopeo: str, source: str) -> bytes:
    """What skopeo prints, or in a sentence why it does not."""
    what = f"read the manifest of {source}"
    try:
        return run_tool([skopeo, "inspect", "--raw", source], what, seconds=READ_SECONDS)
    except LanewrightError as error:
        found = FATAL.search(str(error))
        if found is None:
            raise
        why = found[1].replace('\\"', '"')
        raise LanewrightError(
            f"there is no image {source}"
            if UNKNOWN in why
            else f"{source} cannot be read by skopeo: {why}",
            hint="`podman images` lists those of this user; or name the folder of an OCI layout, an"
            " archive or a lane",
        ) from error
