"""Change a layout and keep all its digests right, as one would who wants it not to be seen."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Edit = Callable[[Any], Any]


def blob(layout: Path, descriptor: dict[str, Any]) -> Path:
    """Where a layout has what a descriptor names."""
    digest: str = descriptor["digest"]
    return layout / "blobs" / digest.replace(":", "/")


def load(path: Path) -> Any:  # noqa: ANN401 - JSON
    return json.loads(path.read_bytes())


def save(path: Path, document: object) -> None:
    path.write_bytes(encoded(document))


def replace(layout: Path, descriptor: dict[str, Any], content: bytes) -> None:
    """Put other content in a blob's place and let its descriptor say so."""
    blob(layout, descriptor).unlink(missing_ok=True)
    descriptor |= {
        "digest": f"sha256:{hashlib.sha256(content).hexdigest()}",
        "size": len(content),
    }
    blob(layout, descriptor).write_bytes(content)


def encoded(document: object) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def edit_index(layout: Path, edit: Edit) -> None:
    """Edit the list of platforms."""
    top = load(layout / "index.json")
    index = load(blob(layout, top["manifests"][0]))
    edit(index)
    replace(layout, top["manifests"][0], encoded(index))
    save(layout / "index.json", top)


def edit_manifest(layout: Path, number: int, edit: Edit) -> None:
    """Edit the manifest of one platform."""

    def inner(index: Any) -> None:  # noqa: ANN401 - JSON
        manifest = load(blob(layout, index["manifests"][number]))
        edit(manifest)
        replace(layout, index["manifests"][number], encoded(manifest))

    edit_index(layout, inner)


def edit_config(layout: Path, number: int, edit: Edit) -> None:
    """Edit the configuration of one platform."""

    def inner(manifest: Any) -> None:  # noqa: ANN401 - JSON
        config = load(blob(layout, manifest["config"]))
        edit(config)
        replace(layout, manifest["config"], encoded(config))

    edit_manifest(layout, number, inner)


def replace_layer(layout: Path, content: bytes) -> None:
    """Put another layer into both images."""

    def into_config(config: Any) -> None:  # noqa: ANN401 - JSON
        config["rootfs"]["diff_ids"] = [f"sha256:{hashlib.sha256(content).hexdigest()}"]

    def into_manifest(manifest: Any) -> None:  # noqa: ANN401 - JSON
        replace(layout, manifest["layers"][0], content)

    for number in (0, 1):
        edit_config(layout, number, into_config)
        edit_manifest(layout, number, into_manifest)
