"""A lane's layer as images of nothing else: configurations, manifests and their index."""

from datetime import UTC, datetime

import msgspec

from lanewright.image import oci
from lanewright.image.stamps import stamps
from lanewright.image.tar import SECONDS
from lanewright.queue.lock import Lock, layer_of

CREATED = datetime.fromtimestamp(SECONDS, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
# The layer holds no compiled code, so one serves them all.
ARCHITECTURES = ("amd64", "arm64")
MARKER = b'{"imageLayoutVersion":"1.0.0"}'


def layer_stamps(lock: Lock) -> dict[str, str]:
    """What the layer alone says of itself: it came with no base, and has no time but this one."""
    return dict(sorted({**stamps(lock), "org.opencontainers.image.created": CREATED}.items()))


def documents(lock: Lock) -> dict[str, bytes]:
    """Every file of a lock's layout by its path there, but for the layer itself.

    ``index.json`` names one image, an index of one manifest per architecture: readers that look
    for a single image find it, and take from it the one for their machine.
    """
    layer, said = layer_of(lock), layer_stamps(lock)
    blobs: dict[str, bytes] = {}

    def keep(
        kind: str, document: oci.Document, platform: oci.Platform | None = None
    ) -> oci.Descriptor:
        content = msgspec.json.encode(document)
        digest = oci.digest_of(content)
        blobs[oci.blob_path(digest)] = content
        return oci.Descriptor(media_type=kind, digest=digest, size=len(content), platform=platform)

    layers = [oci.Descriptor(media_type=oci.LAYER, digest=layer.digest, size=layer.size)]
    manifests = []
    for architecture in ARCHITECTURES:
        config = oci.Config(
            created=CREATED,
            architecture=architecture,
            os="linux",
            config=oci.Execution(labels=said),
            rootfs=oci.Root(type="layers", diff_ids=[layer.digest]),
            history=[oci.History(created=CREATED, created_by="lanewright image")],
        )
        manifest = oci.Manifest(
            schema_version=2,
            media_type=oci.MANIFEST,
            config=keep(oci.CONFIG, config),
            layers=layers,
            annotations=said,
        )
        platform = oci.Platform(architecture=architecture, os="linux")
        manifests.append(keep(oci.MANIFEST, manifest, platform))
    image = keep(oci.INDEX, _index(manifests, said))
    named = msgspec.structs.replace(
        image, annotations={"org.opencontainers.image.ref.name": lock.lane}
    )
    return {
        **blobs,
        "index.json": msgspec.json.encode(_index([named], {})),
        "oci-layout": MARKER,
    }


def _index(manifests: list[oci.Descriptor], annotations: dict[str, str]) -> oci.Index:
    return oci.Index(
        schema_version=2, media_type=oci.INDEX, manifests=manifests, annotations=annotations
    )
