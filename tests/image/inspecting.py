"""An image to inspect, and labels that somebody else wrote."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lanewright.__main__ import run
from lanewright.queue.lock import Lock
from tests.conftest import World
from tests.image import onto, tamper
from tests.image.bases import Base, of_pin

Labels = dict[str, Any]


@pytest.fixture
def image(imaged: World, amd64: Lock, tmp_path: Path) -> Path:
    """The sample lane's image, away from its project and its store."""
    base = Base([of_pin(imaged.repository, amd64)], packed="gzip").lay(tmp_path / "base")
    assert imaged.run("image", "--base", str(base)) == 0
    shutil.copytree(onto.the_folder(imaged), tmp_path / "elsewhere/image")
    return tmp_path / "elsewhere/image"


def alone(image: Path, monkeypatch: pytest.MonkeyPatch, *more: str) -> int:
    """Inspect where there is neither a project nor a store."""
    monkeypatch.chdir(image.parent)
    monkeypatch.setenv("LANEWRIGHT_STORE", os.devnull)
    return run(["image", "inspect", image.name, *more])


def labels(image: Path, edit: Callable[[Labels], object]) -> None:
    """Edit an image's labels, and keep all digests right."""

    def config(found: Any) -> None:  # noqa: ANN401 - JSON
        edit(found["config"]["Labels"])

    configuration(image, config)


def configuration(image: Path, edit: Callable[[Any], object]) -> None:
    """Edit an image's configuration, and keep all digests right."""
    top = tamper.load(image / "index.json")
    manifest = onto.manifest_of(image)
    config = onto.config_of(image)
    edit(config)
    tamper.replace(image, manifest["config"], tamper.encoded(config))
    tamper.replace(image, top["manifests"][0], tamper.encoded(manifest))
    tamper.save(image / "index.json", top)
