"""The documents of a lane's image: its base's, with one layer more."""

from dataclasses import dataclass
from typing import Any

import msgspec

from lanewright.image import oci
from lanewright.image.documents import CREATED, MARKER
from lanewright.image.opened.image import OpenImage
from lanewright.image.stamps import BASE_DIGEST, REVISION, stamps
from lanewright.queue.lock import Lock, layer_of

# By what Docker's own kind of manifest calls its layers.
LAYERS = {
    "application/vnd.docker.image.rootfs.diff.tar": oci.LAYER,
    "application/vnd.docker.image.rootfs.diff.tar.gzip": f"{oci.LAYER}+gzip",
    "application/vnd.docker.image.rootfs.diff.tar.zstd": f"{oci.LAYER}+zstd",
}
NAME = "org.opencontainers.image.ref.name"


@dataclass(frozen=True)
class Composed:
    """An image that is made, but for its layers.

    Attributes:
        documents: Every small file of its layout, by its path there.
        digest: Of its manifest.
        config: Digest of its configuration, which podman and docker call its id.
        labels: What it says of itself.
        blobs: Digests of its base's layers, the lowest first.
    """

    documents: dict[str, bytes]
    digest: str
    config: str
    labels: dict[str, str]
    blobs: tuple[str, ...]


def on_base(lock: Lock, base: OpenImage) -> dict[str, str]:
    """What an image on a base says of itself."""
    said = {
        **stamps(lock),
        BASE_DIGEST: base.digest,
        "org.opencontainers.image.created": created(base),
        NAME: lock.lane,
    }
    if lock.base and lock.base.digest in (base.digest, base.index):
        said["org.opencontainers.image.base.name"] = lock.base.name
    return dict(sorted(said.items()))


def built_on_base(lock: Lock, base: OpenImage) -> dict[str, str]:
    """The same, where a tool of others builds it: that keeps what the base says of itself.

    Not every tool can take a label away; an empty one tells no revision.
    """
    revision = {REVISION: ""} if REVISION in base.labels else {}
    return dict(sorted({**revision, **on_base(lock, base)}.items()))


def created(base: OpenImage) -> str:
    """When the image came to be: when its base did. A lock has no time, and now is no one's."""
    return str(base.config.get("created") or CREATED)


def compose(lock: Lock, base: OpenImage) -> Composed:
    """Make the documents of a lane's image on a base; of equal ones the same on every machine.

    What the base is run with stays: entry point, command, environment, user, folder.

    Args:
        lock: With a layer.
        base: For one platform.
    """
    layer, said = layer_of(lock), on_base(lock, base)
    documents: dict[str, bytes] = {}

    def keep(document: Any) -> tuple[str, int]:  # noqa: ANN401 - JSON
        content = msgspec.json.encode(document)
        digest = oci.digest_of(content)
        documents[oci.blob_path(digest)] = content
        return digest, len(content)

    config = _config(base.config, layer.digest, said)
    config_digest, size = keep(config)
    layers = [
        {
            "mediaType": LAYERS.get(each.blob.media_type, each.blob.media_type) or oci.LAYER,
            "digest": each.blob.digest,
            "size": each.blob.size,
        }
        for each in base.layers
    ]
    manifest_digest, length = keep(
        {
            "schemaVersion": 2,
            "mediaType": oci.MANIFEST,
            "config": {"mediaType": oci.CONFIG, "digest": config_digest, "size": size},
            "layers": [
                *layers,
                {"mediaType": oci.LAYER, "digest": layer.digest, "size": layer.size},
            ],
            "annotations": said,
        }
    )
    platform = {"architecture": base.platform.architecture, "os": base.platform.os}
    named = {
        "mediaType": oci.MANIFEST,
        "digest": manifest_digest,
        "size": length,
        "platform": platform,
        "annotations": {NAME: lock.lane},
    }
    index = {"schemaVersion": 2, "mediaType": oci.INDEX, "manifests": [named]}
    documents["index.json"] = msgspec.json.encode(index)
    documents["oci-layout"] = MARKER
    blobs = tuple(each.blob.digest for each in base.layers)
    return Composed(documents, manifest_digest, config_digest, said, blobs)


def _config(base: dict[str, Any], diff_id: str, said: dict[str, str]) -> dict[str, Any]:
    run = dict(base.get("config") or {})
    # Whose revision the base tells, it alone knows; beside our `source` it would be vLLM's.
    inherited = {key: each for key, each in (run.get("Labels") or {}).items() if key != REVISION}
    run["Labels"] = dict(sorted({**inherited, **said}.items()))
    when = said["org.opencontainers.image.created"]
    step = {
        "created": when,
        "created_by": "lanewright image",
        "comment": said["org.opencontainers.image.title"],
    }
    rootfs = {**base["rootfs"], "diff_ids": [*base["rootfs"]["diff_ids"], diff_id]}
    history = [*(base.get("history") or []), step]
    # Of Docker's own: what container the base was made in.
    left = {
        key: value for key, value in base.items() if key not in {"container", "container_config"}
    }
    return {**left, "created": when, "config": run, "rootfs": rootfs, "history": history}
