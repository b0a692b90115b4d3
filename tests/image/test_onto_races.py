"""An image on a base, whatever ends its making, and however many make it."""

from pathlib import Path

import pytest

from lanewright.image.onto.base import architecture_of
from lanewright.image.onto.check import differences
from lanewright.queue.lock import Lock
from lanewright.queue.series import load_series
from tests.conftest import World
from tests.image import onto
from tests.image.bases import Base, of_pin
from tests.killing import kills, restoring
from tests.process import finish, start


@pytest.fixture
def base(imaged: World, lock: Lock, tmp_path: Path) -> str:
    architecture = architecture_of(load_series(imaged.project, "sample")) or ""
    made = Base([of_pin(imaged.repository, lock)], packed="gzip", architectures=[architecture])
    return str(made.lay(tmp_path / "base"))


def test_two_runs_at_once_make_one(imaged: World, lock: Lock, base: str) -> None:
    running = [start(imaged.root, "image", "--base", base) for _ in range(3)]
    ended = [finish(process) for process in running]
    assert [code for code, _, _ in ended] == [0, 0, 0], ended
    assert len({out for _, out, _ in ended}) == 1
    assert differences(imaged.places, lock, onto.the_folder(imaged)) == []
    assert len(list(imaged.places.base_images.glob("sha256-*"))) == 1
    left = [
        p for place in (imaged.places.layouts, imaged.places.base_images) for p in place.glob(".*")
    ]
    assert left == []


@pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.engine_full)])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_run_killed_at_any_step_leaves_nothing_half(
    imaged: World, lock: Lock, base: str, moment: str, every: int
) -> None:
    command = ["image", "--base", base]
    undone = restoring(imaged.places.store, imaged.root)
    for killed in kills(command, imaged.root, {}, undone, moments=[moment], every=every):
        for folder in onto.folders(imaged):
            assert differences(imaged.places, lock, folder) == [], killed
        assert finish(start(imaged.root, *command))[0] == 0
        assert differences(imaged.places, lock, onto.the_folder(imaged)) == []
