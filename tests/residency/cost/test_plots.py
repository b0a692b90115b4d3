"""Plots of an estimate."""

from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.queue.series_machine import MachineSpec
from lanewright.residency.cost.estimate import Asked, estimate
from lanewright.residency.cost.machine_file import MachineFile
from lanewright.residency.cost.plots import write_plots
from tests.residency.cost.lane import estimated, lane_model

NAMES = {"tiers", "cold-reads", "slots", "anchors"}


def test_each_is_drawn_as_both_kinds_and_has_its_numbers(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    files = write_plots(estimated(), folder)
    assert {file.name for file in files} == {
        f"{n}.{kind}" for n in NAMES for kind in ("svg", "png")
    }
    assert sorted(folder.iterdir()) == sorted(files)
    for file in folder.glob("*.png"):
        assert file.read_bytes().startswith(b"\x89PNG\r\n")
    words = {
        "tiers": ["55.3 us", "1.57 to 1.88 ms", "a step, one user: 14.6 ms"],
        "cold-reads": ["3.18 ms (21.8% of a step)", "358 us (2.5% of a step)", "3.87 tokens"],
        "slots": ["1.09 M", "43%", "there are 2.54 M"],
        "anchors": ["33.3", "67.0", "103.8", "16 users: predicted"],
    }
    for name, expected in words.items():
        drawn = (folder / f"{name}.svg").read_text()
        for word in expected:
            assert f">{word}" in drawn or word in drawn, (name, word)


def test_the_same_numbers_are_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_plots(estimated(), tmp_path / name)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()


def test_what_is_not_known_is_not_drawn(tmp_path: Path) -> None:
    spec = MachineSpec("1GiB", "1GiB", link=100.0)
    bare = estimate(lane_model(), MachineFile(spec), Asked({"a": 0.1}), "x")
    assert {file.stem for file in write_plots(bare, tmp_path)} == {"tiers", "cold-reads"}


def test_a_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises(LanewrightError, match="cannot write"):
        write_plots(estimated(), tmp_path / "file")
    assert (tmp_path / "file").read_text() == "kept"
