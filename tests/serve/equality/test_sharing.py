"""Pin and lane at once, each on its half of the cores, where there are as many and memory for both."""

import json
import os
from pathlib import Path

import pytest

from lanewright.serve.child import BootError
from lanewright.serve.equality.sharing import BESIDE, LOADING, shares
from tests.serve.equality.test_run import compared
from tests.serve.stand_in import lay_stand_in

SIZE = 2**20


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "weights"
    folder.mkdir()
    with (folder / "model.safetensors").open("wb") as file:
        file.truncate(SIZE)
    return folder


def memory(folder: Path, available: int) -> Path:
    file = folder / "meminfo"
    file.write_text(f"MemTotal: 1 kB\nMemAvailable: {available // 1024} kB\n")
    return file


@pytest.mark.parametrize(
    ("cores", "halves"),
    [({5}, None), ({2, 3}, ((0,), (1,))), ({*range(7)}, ((0, 1, 2), (3, 4, 5)))],
)
def test_each_side_has_half(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cores: set[int],
    halves: object,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: cores)
    assert shares("cpu", model, memory(tmp_path, 2**40)) == halves
    assert shares("cuda", model, memory(tmp_path, 2**40)) is None
    assert shares("cuda", tmp_path / "none", tmp_path / "none") is None


def test_two_models_need_room_to_load(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    least = 2 * (LOADING * SIZE + BESIDE)
    assert shares("cpu", model, memory(tmp_path, least)) is not None
    assert shares("cpu", model, memory(tmp_path, least - 1024)) is None
    assert shares("cpu", model, tmp_path / "none") is None


two_cores = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="on one core the sides run one after another"
)


@two_cores
def test_the_sides_keep_to_different_cores_and_it_is_told(tmp_path: Path) -> None:
    found = compared(tmp_path, lay_stand_in(tmp_path))
    half = len(os.sched_getaffinity(0)) // 2
    assert (found.verdict, found.cores) == ("equal", half)
    kept = [
        set(json.loads((tmp_path / "equality" / f"{side}.spec.json").read_text())["cores"])
        for side in ("pin", "lane")
    ]
    assert [len(each) for each in kept] == [half, half]
    assert not kept[0] & kept[1]
    for name in ("pin.eager.self", "lane.eager.on"):
        assert json.loads((tmp_path / "equality" / f"{name}.json").read_text())["cores"] == half


@two_cores
def test_a_lane_that_dies_is_told_once_the_pin_has_ended(tmp_path: Path) -> None:
    """Where that dies, too, nothing is said of the lane."""
    with pytest.raises(BootError, match=r"^lane ended with exit status 1 in arm eager\.off;"):
        compared(tmp_path, lay_stand_in(tmp_path, lies={"dies": True}))
    assert (tmp_path / "equality" / "pin.eager.self.json").exists()
    (tmp_path / "other").mkdir()
    with pytest.raises(
        BootError, match=r"^no baseline, so nothing was compared: the unpatched pin"
    ):
        compared(
            tmp_path / "other", lay_stand_in(tmp_path / "other", lies={"dies": True}), killed=9
        )
