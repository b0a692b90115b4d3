"""The real base of a CPU lane, made twice: one digest, and the pin's vLLM is in it."""

from pathlib import Path

import pytest

from lanewright.image.base.making import make_base_image
from lanewright.image.base.tools import missing_tools
from lanewright.image.opened.contents import contents_of
from lanewright.image.opened.kept import link
from lanewright.image.preimage import require_preimage
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.build import build
from lanewright.store.git import Repository

pytestmark = pytest.mark.engine_full
LANE = "cpu-twobank"


def with_wheels(places: Places, folder: Path) -> Places:
    """A store that has nothing but the wheels of another."""
    for kept in (places.wheels, places.wheelhouse):
        for file in kept.rglob("*"):
            if file.is_file() and file.suffix != ".lock":
                link(file, folder / file.relative_to(places.store))
    return Places(folder, folder)


def test_the_real_base_made_twice_is_one_image(tmp_path: Path) -> None:
    if missing := missing_tools():
        pytest.skip(f"not installed: {', '.join(missing)}")
    project, places = Project.find(Path(__file__).parents[2]), Places.of_user()
    lock = build(project, places, LANE, check=True).lock
    first = make_base_image(project, places, LANE)
    again = make_base_image(project, places, LANE)
    assert (again.image.digest, again.seconds) == (first.image.digest, {})
    second = make_base_image(project, with_wheels(places, tmp_path / "store"), LANE)
    assert second.seconds
    assert second.image.digest == first.image.digest
    assert len(second.image.layers) == 1
    paths = contents_of(places, second.image)
    require_preimage(Repository(places.objects), lock, paths, "the base")
