"""The documents of an OCI image layout, as they are written and read.

Fields are written in the order given here and unknown ones are refused, so that what a document
says has one form only.
"""

import hashlib
import re
from typing import Annotated, Literal

import msgspec

IndexType = Literal["application/vnd.oci.image.index.v1+json"]
ManifestType = Literal["application/vnd.oci.image.manifest.v1+json"]
INDEX: IndexType = "application/vnd.oci.image.index.v1+json"
MANIFEST: ManifestType = "application/vnd.oci.image.manifest.v1+json"
# As Go names what Python names otherwise.
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
# The files of a layout; whatever else an archive has is no part of it.
MEMBER = re.compile(r"index\.json|oci-layout|blobs/sha256/[0-9a-f]{64}")
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"

Digest = Annotated[str, msgspec.Meta(pattern=r"^sha256:[0-9a-f]{64}\Z")]
Annotations = dict[str, str]


class Document(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One that has no other fields than its own."""


class Platform(Document, frozen=True, kw_only=True):
    """What an image runs on; architectures have Go's names."""

    architecture: str
    os: str


class Descriptor(Document, frozen=True, kw_only=True):
    """What a document says of a blob."""

    media_type: str = msgspec.field(name="mediaType")
    digest: Digest
    size: int
    platform: Platform | None = None
    annotations: Annotations = {}


class Index(Document, frozen=True, kw_only=True):
    """One image for several platforms; ``index.json`` is an index of such images."""

    schema_version: Literal[2] = msgspec.field(name="schemaVersion")
    media_type: IndexType = msgspec.field(name="mediaType")
    manifests: list[Descriptor]
    annotations: Annotations = {}


class Manifest(Document, frozen=True, kw_only=True):
    """An image for one platform: its configuration and its layers."""

    schema_version: Literal[2] = msgspec.field(name="schemaVersion")
    media_type: ManifestType = msgspec.field(name="mediaType")
    config: Descriptor
    layers: list[Descriptor]
    annotations: Annotations = {}


class Execution(Document, frozen=True, kw_only=True):
    """What a container would be run with."""

    labels: Annotations = msgspec.field(name="Labels")


class Root(Document, frozen=True, kw_only=True):
    """Digests of the layers' uncompressed archives."""

    type: Literal["layers"]
    diff_ids: list[Digest]


class History(Document, frozen=True, kw_only=True):
    """Where a layer comes from."""

    created: str
    created_by: str


class Config(Document, frozen=True, kw_only=True):
    """An image's configuration."""

    created: str
    architecture: str
    os: str
    config: Execution
    rootfs: Root
    history: list[History]


def digest_of(content: bytes) -> str:
    """The name of a blob in an image's documents."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def blob_path(digest: str) -> str:
    """Where a layout has a blob."""
    return f"blobs/{digest.replace(':', '/')}"
