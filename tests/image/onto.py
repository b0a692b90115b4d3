"""Images of the sample lane on bases that a test makes."""

import json
from pathlib import Path
from typing import Any

from tests.conftest import World
from tests.image.tamper import blob, load

__all__ = ["load"]


def folders(world: World) -> list[Path]:
    """The images in the store."""
    return sorted(world.places.layouts.glob("*-on-*"))


def the_folder(world: World) -> Path:
    """The one image in the store."""
    (folder,) = folders(world)
    return folder


def manifest_of(folder: Path) -> Any:  # noqa: ANN401 - JSON
    """The one manifest of a layout."""
    (named,) = load(folder / "index.json")["manifests"]
    return load(blob(folder, named))


def config_of(folder: Path) -> Any:  # noqa: ANN401 - JSON
    """Its configuration."""
    return load(blob(folder, manifest_of(folder)["config"]))


def blobs(folder: Path) -> dict[str, int]:
    """Every blob of a layout by its name, with the number of its file on disk."""
    return {path.name: path.stat().st_ino for path in (folder / "blobs/sha256").iterdir()}


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a layout."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def printed(text: str) -> Any:  # noqa: ANN401 - JSON
    """What a command printed with ``--json``."""
    return json.loads(text)
