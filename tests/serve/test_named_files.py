"""What stands for a model's content, and the folder that has all of its files."""

import os
import re
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.serve.named_files import SMALL, files_of, named_hash, require_within, root_of
from tests.serve.hub import in_time, snapshot


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"1")
    return folder


def test_another_blob_or_size_is_another_hash(tmp_path: Path, model: Path) -> None:
    first, second = snapshot(tmp_path, "a1"), snapshot(tmp_path, "b2")
    assert named_hash(first) != named_hash(second)
    before = named_hash(model)
    assert named_hash(model) == before
    (model / "model.safetensors").write_bytes(b"12")
    longer = named_hash(model)
    (model / "config.json").write_text("[]")
    assert len({before, longer, named_hash(model)}) == 3


def written_again(file: Path) -> None:
    os.utime(file, ns=(1, file.stat().st_mtime_ns + 1))


def test_weights_of_the_same_size_written_again_are_others_to_a_comparison(model: Path) -> None:
    before = named_hash(model), named_hash(model, times=True)
    written_again(model / "model.safetensors")
    assert named_hash(model) == before[0]
    assert named_hash(model, times=True) != before[1]


def test_a_link_elsewhere_is_what_it_leads_to(tmp_path: Path, model: Path) -> None:
    """Only the name of a blob tells what is in it."""
    weights = tmp_path / "blobs" / "model.safetensors"
    weights.parent.mkdir()
    (model / "model.safetensors").rename(weights)
    (model / "model.safetensors").symlink_to(weights)
    before = named_hash(model), named_hash(model, times=True)
    written_again(weights)
    assert named_hash(model) == before[0]
    assert named_hash(model, times=True) != before[1]
    weights.write_bytes(b"12")
    assert named_hash(model) != before[0]


def test_a_blob_may_be_written_again(tmp_path: Path) -> None:
    folder = snapshot(tmp_path, "a1")
    before = named_hash(folder, times=True)
    written_again(folder / "model.safetensors")
    assert named_hash(folder, times=True) == before


@pytest.mark.parametrize("name", ["tokenizer.model", "merges.txt", "modeling.py", "chat.jinja"])
def test_small_files_are_read(model: Path, name: str) -> None:
    (model / name).write_bytes(b"one")
    before = named_hash(model), named_hash(model, times=True)
    written_again(model / name)
    assert (named_hash(model), named_hash(model, times=True)) == before
    (model / name).write_bytes(b"two")
    assert named_hash(model) != before[0]


def test_a_large_file_is_told_by_its_size(model: Path) -> None:
    with (model / "extra.dat").open("wb") as file:
        file.truncate(SMALL + 1)
    before = named_hash(model)
    with (model / "extra.dat").open("r+b") as file:
        file.write(b"x")
    assert named_hash(model) == before


def test_subfolders_count_and_what_tools_leave_does_not(model: Path) -> None:
    before = named_hash(model)
    (model / "tokenizer").mkdir()
    (model / "tokenizer" / "merges.txt").write_text("a b")
    with_folder = named_hash(model)
    assert with_folder != before
    for tool in (".cache", "__pycache__"):
        (model / tool).mkdir()
        (model / tool / "it").write_text("x")
    (model / "tokenizer" / "round").symlink_to(model)
    assert named_hash(model) == with_folder


def test_of_a_snapshot_every_file_is_told_in_order(tmp_path: Path) -> None:
    """Also below a folder that is a link, as some have their tokenizer."""
    folder = snapshot(tmp_path, "a1")
    for name in ("original/params.json", "original/shards/0.pth", "z/chat.jinja"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        blob = root_of(folder) / "blobs" / name.replace("/", "-")
        blob.write_text(name)
        (folder / name).symlink_to(blob)
    (tmp_path / "tokenizer" / "sub").mkdir(parents=True)
    (tmp_path / "tokenizer" / "sub" / "merges.txt").touch()
    (folder / "tokenizer").symlink_to(tmp_path / "tokenizer")
    assert [file.relative_to(folder).as_posix() for file in files_of(folder)] == [
        "config.json",
        "model.safetensors",
        "original/params.json",
        "original/shards/0.pth",
        "tokenizer/sub/merges.txt",
        "z/chat.jinja",
    ]


def test_folders_that_link_to_each_other_are_gone_through_once(model: Path) -> None:
    count = 12
    for number in range(count):
        folder = model / f"d{number:02}"
        folder.mkdir()
        (folder / "file").touch()
        for other in range(count):
            (folder / f"a{other}").symlink_to(f"../d{other:02}")
    with in_time():
        assert len([*files_of(model)]) == count + 2
        require_within(model, moved=True)
        named_hash(model)


def test_a_second_name_of_a_folder_is_told_by_where_it_leads(model: Path) -> None:
    hashes = set()
    for name in ("one", "two"):
        (model / name).mkdir()
        (model / name / "merges.txt").write_text(name)
    for target in ("one", "two"):
        (model / "chosen").unlink(missing_ok=True)
        (model / "chosen").symlink_to(target)
        hashes.add(named_hash(model))
    assert len(hashes) == 2
    assert [file.parent.name for file in files_of(model)][1:] == ["model", "one", "two"]
    (model / "chosen").unlink()
    (model / "chosen").symlink_to(model / "one")
    require_within(model, moved=False)
    with pytest.raises(LanewrightError, match="chosen is a link to"):
        require_within(model, moved=True)


def test_a_name_that_is_no_text_is_a_name(model: Path) -> None:
    before = named_hash(model)
    Path(os.fsdecode(os.fsencode(model) + b"/\xff")).touch()
    assert named_hash(model) != before


def test_pipes_and_loops_are_no_files(model: Path) -> None:
    os.mkfifo(model / "pipe")
    (model / "loop").symlink_to("loop")
    assert [file.name for file in files_of(model)] == ["config.json", "model.safetensors"]
    assert root_of(model / "loop") == model / "loop"


def test_above_a_snapshot_is_all_of_it(tmp_path: Path) -> None:
    folder = snapshot(tmp_path, "a1")
    root = tmp_path / "models--somebody--a-model"
    (tmp_path / "link").symlink_to(folder)
    assert root_of(folder) == root_of(tmp_path / "link") == root
    require_within(folder, moved=True)


@pytest.mark.parametrize("above", ["snapshots", "mine/snapshots", "models--a--b/snapshots"])
def test_only_the_hubs_own_layout_is_gone_up_in(tmp_path: Path, above: str) -> None:
    """Neither a folder that is called so, nor one without blobs: all beside it would be mounted."""
    folder = tmp_path / above / "m"
    folder.mkdir(parents=True)
    (tmp_path / "mine" / "blobs").mkdir(parents=True)
    assert root_of(folder) == folder
    assert root_of(Path("/snapshots/m")) == Path("/snapshots/m")


@pytest.mark.parametrize("link", ["file", "folder", "chain", "blob"])
def test_a_link_that_leaves_is_refused(tmp_path: Path, model: Path, link: str) -> None:
    weights = tmp_path / "elsewhere" / "tensors"
    weights.parent.mkdir()
    weights.touch()
    told = "tensors"
    if link == "folder":
        told = "sub"
        (model / told).symlink_to("../elsewhere")
    elif link == "blob":
        model = snapshot(tmp_path, "a1")
        told = "model.safetensors"
        (model / told).resolve().unlink()
        (root_of(model) / "blobs" / "model.safetensors-a1").symlink_to(weights)
    elif link == "chain":
        (tmp_path / "again").symlink_to(weights)
        (model / told).symlink_to("../again")
    else:
        (model / told).symlink_to(weights)
    said = (
        rf"{re.escape(told)} is a link to .*, which a container would not see: .*{root_of(model)}"
    )
    for moved in (False, True):
        with pytest.raises(LanewrightError, match=said) as error:
            require_within(model, moved=moved)
        assert error.value.hint
        assert f"cp -rL {model} ELSEWHERE" in error.value.hint


def test_links_that_stay_hold_elsewhere_where_they_are_relative(model: Path) -> None:
    (model / "near").symlink_to("config.json")
    require_within(model, moved=True)
    (model / "far").symlink_to(model / "config.json")
    require_within(model, moved=False)
    with pytest.raises(LanewrightError, match="far is a link to"):
        require_within(model, moved=True)
