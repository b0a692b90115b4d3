"""A base's documents, the same whoever built its layer."""

from pathlib import Path
from typing import Any

import msgspec

from lanewright.image import oci
from lanewright.image.base.recipe import Recipe
from lanewright.image.opened.image import OpenImage, open_image

BY = "lanewright image base"
# Of what a container is run with, what the recipe says; builders add to it.
KEPT = ("Entrypoint", "Env", "Labels")


def write_documents(recipe: Recipe, layout: Path) -> None:
    """Have a layout tell of its layer in words of our own.

    Builders put their own into a history: how they call a step, and what an archive hashes to of
    which nothing is left. ``index.json`` gets the platform, for readers who choose by it.

    Args:
        recipe: Says time and architecture.
        layout: As a builder wrote it: one image of one layer.
    """
    image = open_image(layout, None)
    old = [image.digest, image.config_blob.digest]
    config = _keep(layout, oci.CONFIG, _config(recipe, image))
    layers = [
        {"mediaType": each.blob.media_type, "digest": each.blob.digest, "size": each.blob.size}
        for each in image.layers
    ]
    document = {"mediaType": oci.MANIFEST, "config": config, "layers": layers}
    manifest = _keep(layout, oci.MANIFEST, {"schemaVersion": 2, **document})
    manifest["platform"] = {"architecture": recipe.architecture, "os": "linux"}
    index = {"schemaVersion": 2, "mediaType": oci.INDEX, "manifests": [manifest]}
    (layout / "index.json").write_bytes(msgspec.json.encode(index))
    for digest in {*old} - {manifest["digest"], config["digest"]}:
        (layout / oci.blob_path(digest)).unlink()


def _config(recipe: Recipe, image: OpenImage) -> dict[str, Any]:
    run: dict[str, Any] = image.config["config"]
    return {
        "created": recipe.created,
        "architecture": recipe.architecture,
        "os": "linux",
        "config": {name: run[name] for name in KEPT},
        "rootfs": {"type": "layers", "diff_ids": [each.diff_id for each in image.layers]},
        "history": [{"created": recipe.created, "created_by": BY} for _ in image.layers],
    }


def _keep(layout: Path, kind: str, document: dict[str, Any]) -> dict[str, Any]:
    content = msgspec.json.encode(document, order="deterministic")
    digest = oci.digest_of(content)
    (layout / oci.blob_path(digest)).write_bytes(content)
    return {"mediaType": kind, "digest": digest, "size": len(content)}
