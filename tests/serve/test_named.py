"""Models that others trained: found in Hugging Face's cache or in a folder, never downloaded."""

import json
import os
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.serve.named import find_named, hub_cache, named_hash, root_of

NAME = "somebody/a-model"


def snapshot(cache: Path, commit: str, *, ref: bool = True) -> Path:
    """Lay a revision as Hugging Face's library does: links to blobs, and a name for the newest."""
    root = cache / "models--somebody--a-model"
    folder = root / "snapshots" / commit
    folder.mkdir(parents=True)
    blobs = root / "blobs"
    blobs.mkdir(exist_ok=True)
    for name, content in (("config.json", b"{}"), ("model.safetensors", commit.encode())):
        blob = blobs / f"{name}-{commit}"
        blob.write_bytes(content)
        (folder / name).symlink_to(Path("../../blobs", blob.name))
    if ref:
        (root / "refs").mkdir(exist_ok=True)
        (root / "refs" / "main").write_text(commit)
    return folder


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


def test_what_a_download_left_out_is_named(tmp_path: Path) -> None:
    folder = snapshot(tmp_path, "a1")
    shards = {"a": "model-1.safetensors", "b": "model-2.safetensors", "c": "model.safetensors"}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))
    with pytest.raises(LanewrightError, match=r"it lacks model-1\.safetensors, and 1 more"):
        find_named(NAME, None, "lane", {"HF_HUB_CACHE": str(tmp_path)})
    (folder / "model.safetensors.index.json").write_text("[]")
    with pytest.raises(LanewrightError, match="its index is damaged"):
        find_named(NAME, None, "lane", {"HF_HUB_CACHE": str(tmp_path)})


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


def test_another_blob_or_size_is_another_hash(tmp_path: Path) -> None:
    first, second = snapshot(tmp_path, "a1"), snapshot(tmp_path, "b2")
    assert named_hash(first) != named_hash(second)
    folder = tmp_path / "plain"
    folder.mkdir()
    weights, config = folder / "model.safetensors", folder / "config.json"
    weights.write_bytes(b"1")
    config.write_text("{}")
    before = named_hash(folder)
    assert named_hash(folder) == before
    weights.write_bytes(b"12")
    longer = named_hash(folder)
    config.write_text("[]")
    assert len({before, longer, named_hash(folder)}) == 3


def test_weights_of_the_same_size_written_again_are_others_to_a_comparison(tmp_path: Path) -> None:
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"1")
    before = named_hash(tmp_path), named_hash(tmp_path, times=True)
    os.utime(weights, ns=(1, weights.stat().st_mtime_ns + 1))
    assert named_hash(tmp_path) == before[0]
    assert named_hash(tmp_path, times=True) != before[1]
