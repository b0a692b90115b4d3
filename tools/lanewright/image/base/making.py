"""A CPU lane's base, made once and kept in the store."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.image.base.building import build_layout, remove
from lanewright.image.base.recipe import Recipe, base_image, folder_of, recipe_of
from lanewright.image.base.root import make_root
from lanewright.image.base.tools import require_tools
from lanewright.image.base.wheelhouse import size_of, wheelhouse
from lanewright.image.opened.image import OpenImage, open_image
from lanewright.places import Places
from lanewright.project import Project
from lanewright.store.locking import held
from lanewright.store.pip import NO_ROOM
from lanewright.store.scratch import dead, making, settle


@dataclass
class MadeBase:
    """A base in the store.

    Attributes:
        image: Its layout, opened.
        seconds: What each step took; empty where it was there already.
        sizes: Bytes of what the steps made.
    """

    image: OpenImage
    seconds: dict[str, float] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)


def make_base_image(project: Project, places: Places, lane: str) -> MadeBase:
    """Find or make the base of a lane's image; it appears whole or not at all.

    Raises:
        HardwareError: vLLM has no CPU build for this machine.
        MismatchError: A wheel is another than the lane's environment has locked.
        LanewrightError: A program is missing or fails, no network, no room; or ``recipe_of`` says.
    """
    there = base_image(project, places, lane)
    if there:
        return MadeBase(open_image(there, None))
    require_tools()
    recipe = recipe_of(project, places, lane)
    folder = folder_of(places, recipe)
    try:
        with held(places.base_images / "made.lock", "makes a base image"):
            if not (folder / "index.json").is_file():
                return _make(places, recipe, folder)
    except OSError as error:
        raise LanewrightError(f"base image {folder}: {error}", hint=NO_ROOM) from error
    return MadeBase(open_image(folder, None))


def _make(places: Places, recipe: Recipe, folder: Path) -> MadeBase:
    seconds: dict[str, float] = {}
    sizes: dict[str, int] = {}
    with _timed(seconds, "wheels"):
        wheels = wheelhouse(places, recipe)
    sizes["wheels"] = size_of(wheels)
    # Some of it may be another user's.
    for left in dead(places.base_images):
        remove(left)
    with making(places.base_images) as scratch:
        try:
            context, temporary = scratch / "context", scratch / "temporary"
            context.mkdir()
            temporary.mkdir()
            with _timed(seconds, "root"):
                make_root(recipe, context / "root.tar", temporary)
            sizes["root"] = (context / "root.tar").stat().st_size
            with _timed(seconds, "image"):
                layout = build_layout(recipe, scratch, wheels)
            settle(layout, folder)
        finally:
            remove(scratch)
    image = open_image(folder, None)
    sizes["layer"] = sum(layer.blob.size for layer in image.layers)
    return MadeBase(image, seconds, sizes)


@contextmanager
def _timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    start = time.monotonic()
    yield
    seconds[step] = round(time.monotonic() - start, 1)
