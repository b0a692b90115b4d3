"""Folders that are filled beside their place."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lanewright.places import Places
from lanewright.store.locking import writing
from lanewright.store.scratch import HOST, making, settle


def test_nothing_stays_when_the_work_fails(tmp_path: Path) -> None:
    def fail_half_way() -> None:
        with making(tmp_path) as folder:
            (folder / "file").write_text("half")
            raise RuntimeError("half")

    with pytest.raises(RuntimeError, match="half"):
        fail_half_way()
    assert list(tmp_path.iterdir()) == []


def test_a_settled_folder_stays(tmp_path: Path) -> None:
    with making(tmp_path) as folder:
        (folder / "file").write_text("whole")
        settle(folder, tmp_path / "place")
    assert [path.name for path in tmp_path.iterdir()] == ["place"]
    assert (tmp_path / "place").stat().st_mode & 0o777 == 0o755


def test_the_quicker_of_two_runs_wins(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    (tmp_path / "place" / "file").write_text("first")
    with making(tmp_path) as folder:
        (folder / "file").write_text("second")
        settle(folder, tmp_path / "place")
    assert (tmp_path / "place" / "file").read_text() == "first"


def test_what_a_killed_process_left_is_removed_and_a_living_ones_kept(tmp_path: Path) -> None:
    code = "import os, sys; from lanewright.store.scratch import making; from pathlib import Path\n"
    code += "with making(Path(sys.argv[1])): os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    (left,) = tmp_path.iterdir()
    with making(tmp_path) as mine:
        assert not left.exists()
        with making(tmp_path):
            assert mine.exists()


def test_any_writer_of_the_store_removes_what_killed_ones_were_filling(places: Places) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    left = [
        folder / f".making-{HOST}-{pid}-x"
        for folder in (places.incoming, places.bundles)
        for pid in (ended.pid, os.getpid())
    ]
    for folder in left:
        folder.mkdir(parents=True)
    with writing(places):
        assert [folder.exists() for folder in left] == [False, True, False, True]
