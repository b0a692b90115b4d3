"""An image in the storage of buildah, podman or another tool: its documents, by skopeo."""

import msgspec

from lanewright.errors import LanewrightError
from lanewright.image.inspect.seen import Seen, seen
from lanewright.image.oci import Digest, digest_of
from lanewright.image.tool import program, run_tool


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
    raw = run_tool([skopeo, "inspect", "--raw", source], f"read the manifest of {source}")
    command = [skopeo, "inspect", "--raw", "--config", source]
    config = run_tool(command, f"read the configuration of {source}")
    try:
        manifest = msgspec.json.decode(raw, type=_Manifest)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise LanewrightError(f"{source}: its manifest cannot be read: {error}") from error
    layers = [(each.digest, each.size) for each in manifest.layers]
    return seen(source, config, digest_of(config), layers, digest_of(raw))
