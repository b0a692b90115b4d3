"""Models that others trained: found in Hugging Face's cache or in a folder, never downloaded."""

import os
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.serve.named import find_named, hub_cache
from lanewright.serve.named_files import root_of
from tests.serve.hub import NAME, in_time, snapshot


def test_the_revision_that_main_is(tmp_path: Path) -> None:
    environ = {"HF_HUB_CACHE": str(tmp_path)}
    snapshot(tmp_path, "a1")
    newest = snapshot(tmp_path, "b2")
    assert find_named(NAME, None, "lane", environ) == newest
    assert root_of(newest) == tmp_path / "models--somebody--a-model"


def test_the_only_revision_where_none_is_main(tmp_path: Path) -> None:
    only = snapshot(tmp_path, "a1", ref=False)
    assert find_named(NAME, None, "lane", {"HF_HUB_CACHE": str(tmp_path)}) == only


@pytest.mark.parametrize(("commits", "what"), [((), "no"), (("a1", "b2"), "several revisions of")])
def test_none_or_several_are_told(tmp_path: Path, commits: tuple[str, ...], what: str) -> None:
    for commit in commits:
        snapshot(tmp_path, commit, ref=False)
    with pytest.raises(LanewrightError, match=f"there is {what} {NAME} in {tmp_path}") as error:
        find_named(NAME, None, "lane", {"HF_HUB_CACHE": str(tmp_path)})
    assert error.value.hint
    assert f"hf download {NAME}" in error.value.hint


def test_main_is_not_here(tmp_path: Path) -> None:
    snapshot(tmp_path, "a1")
    (tmp_path / "models--somebody--a-model" / "refs" / "main").write_text("c3")
    with pytest.raises(LanewrightError, match="there is no somebody/a-model"):
        find_named(NAME, None, "lane", {"HF_HUB_CACHE": str(tmp_path)})


def test_a_folder_goes_before_the_name(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    with pytest.raises(LanewrightError, match="it lacks a file of weights"):
        find_named(NAME, str(folder), "lane", {})
    (folder / "model.safetensors").touch()
    assert find_named(NAME, str(folder), "lane", {}) == folder
    assert root_of(folder) == folder
    with pytest.raises(LanewrightError, match=r"has no config\.json"):
        find_named(NAME, str(tmp_path), "lane", {})


@pytest.mark.parametrize(
    ("environ", "place"),
    [
        ({"HF_HUB_CACHE": "/hub", "HF_HOME": "/home"}, "/hub"),
        ({"HF_HOME": "/home", "XDG_CACHE_HOME": "/xdg"}, "/home/hub"),
        ({"XDG_CACHE_HOME": "/xdg"}, "/xdg/huggingface/hub"),
    ],
)
def test_where_the_cache_is(environ: dict[str, str], place: str) -> None:
    assert hub_cache(environ) == Path(place)


def test_where_the_cache_is_by_default() -> None:
    assert hub_cache({}) == Path.home() / ".cache/huggingface/hub"


def test_a_ref_that_is_no_text_is_told(tmp_path: Path) -> None:
    ref = snapshot(tmp_path, "a1").parents[1] / "refs" / "main"
    ref.write_bytes(b"\xff\xfe")
    with pytest.raises(LanewrightError, match="is damaged: it names no revision") as error:
        find_named(NAME, None, "lane", {"HF_HUB_CACHE": str(tmp_path)})
    assert str(ref) in str(error.value)
    assert error.value.hint == f"`hf download {NAME}` writes it anew"


def test_no_pipe_is_waited_for(tmp_path: Path) -> None:
    """Nobody writes into it: whoever opened it would wait for good."""
    folder = snapshot(tmp_path, "a1")
    environ = {"HF_HUB_CACHE": str(tmp_path)}
    in_place_of(folder.parents[1] / "refs" / "main")
    with in_time():
        assert find_named(NAME, None, "lane", environ) == folder
    in_place_of(folder / "config.json")
    with in_time(), pytest.raises(LanewrightError, match=f"there is no {NAME}"):
        find_named(NAME, None, "lane", environ)


def in_place_of(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def test_a_home_of_nobody_is_a_place_like_another() -> None:
    assert hub_cache({"HF_HOME": "~no-such-user/hf"}) == Path("~no-such-user/hf/hub").absolute()
