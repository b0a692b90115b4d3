"""Folders of this machine that a container is given."""

from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.image.container.command import model_of, mounted


def test_a_folder(tmp_path: Path) -> None:
    assert mounted(Path("/a, b"), "/lane/work", writable=True) == "--volume=/a, b:/lane/work:rw"
    assert model_of(str(tmp_path)) == ("/lane/model", [f"--volume={tmp_path}:/lane/model:ro"])
    assert model_of("somebody/a-model") == ("somebody/a-model", [])


@pytest.mark.parametrize("path", ["/a:b/c", "/a\nb", "/a\x7f"])
def test_a_path_that_would_end_early_is_refused(path: str) -> None:
    with pytest.raises(LanewrightError) as error:
        mounted(Path(path), "/lane/work")
    assert f"no container can be given {path}: " in str(error.value)
    assert error.value.hint
    assert "LANEWRIGHT_STATE" in error.value.hint


@pytest.mark.parametrize("place", ["/.", "/a/.."])
def test_a_container_is_not_given_all_of_the_machine(place: str) -> None:
    with pytest.raises(LanewrightError, match="all of this machine: / would be mounted"):
        mounted(Path("/"), "/lane/model")
    with pytest.raises(LanewrightError, match="all of this machine: / would be mounted"):
        model_of(place)


def test_a_snapshot_is_given_with_its_blobs(tmp_path: Path) -> None:
    root = tmp_path / "models--somebody--a-model"
    folder = root / "snapshots" / "a1"
    folder.mkdir(parents=True)
    (root / "blobs").mkdir()
    (tmp_path / "link").symlink_to(folder)
    expected = ("/lane/model/snapshots/a1", [f"--volume={root}:/lane/model:ro"])
    assert model_of(str(folder)) == model_of(str(tmp_path / "link")) == expected
    (tmp_path / "tensors").touch()
    (folder / "tensors").symlink_to(tmp_path / "tensors")
    with pytest.raises(LanewrightError, match="tensors is a link to"):
        model_of(str(folder))


def test_links_in_a_circle_are_a_folder_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("a")
    assert model_of(str(tmp_path / "a"))[0] == "/lane/model"
