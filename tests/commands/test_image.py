"""``image``, and what the other commands say of a lane's image."""

import json
import shutil
from pathlib import Path

import pytest

from lanewright.image.layout import layout_folder
from lanewright.queue.lock import Lock, layer_of, read_lock
from tests.conftest import World

Capture = pytest.CaptureFixture[str]
TABLE = '[image]\nsite_packages = "/usr/lib/python3/dist-packages"\n\n'


@pytest.fixture
def imaged(world: World, capfd: Capture) -> World:
    """The sample project, built, with a layer."""
    world.edit("series/sample.toml", "# the hook", f"{TABLE}# the hook")
    assert world.run("build") == 0
    capfd.readouterr()
    return world


def locked(world: World) -> Lock:
    lock = read_lock(world.lock)
    assert lock
    return lock


def test_digest_and_place_are_data(imaged: World, capfd: Capture) -> None:
    assert imaged.run("image") == 0
    captured = capfd.readouterr()
    lock = locked(imaged)
    folder = layout_folder(imaged.places, lock)
    assert captured.out == f"{layer_of(lock).digest} {folder}\n"
    assert "lane sample: layer made, 10240 bytes for /usr/lib/python3/dist-packages" in captured.err
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert imaged.run("image", "sample") == 0
    captured = capfd.readouterr()
    assert captured.out == f"{layer_of(lock).digest} {folder}\n"
    assert "is there already, and as its lock says" in captured.err
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_as_json(imaged: World, capfd: Capture) -> None:
    assert imaged.run("image", "--json") == 0
    lock = locked(imaged)
    assert json.loads(capfd.readouterr().out) == {
        "lane": "sample",
        "layer": {
            "digest": layer_of(lock).digest,
            "size": 10240,
            "site_packages": "/usr/lib/python3/dist-packages",
            "version": f"1.1+lane.sample.{lock.tree[:8]}",
        },
        "layout": str(layout_folder(imaged.places, lock)),
    }


def test_build_says_the_layer(world: World, capfd: Capture) -> None:
    world.edit("series/sample.toml", "# the hook", TABLE)
    assert world.run("build") == 0
    assert f"layer: 10240 bytes, {layer_of(locked(world)).digest}" in capfd.readouterr().err


@pytest.mark.parametrize("command", [["image"], ["verify", "--image"]])
def test_a_lane_without_image_says_what_to_add(
    world: World, capfd: Capture, command: list[str]
) -> None:
    assert world.run("build") == 0
    before = world.lock.read_bytes()
    assert b"layer" not in before
    capfd.readouterr()
    assert world.run(*command) == 1
    captured = capfd.readouterr()
    assert "lane sample has no layer" in captured.err
    assert "next: add a table [image] with site_packages = " in captured.err
    assert "to series/sample.toml" in captured.err
    assert captured.out == ""
    assert world.lock.read_bytes() == before
    assert not world.places.layouts.exists()


def test_a_lock_older_than_the_table_is_out_of_date(world: World, capfd: Capture) -> None:
    assert world.run("build") == 0
    world.edit("series/sample.toml", "# the hook", TABLE)
    assert world.run("image") == 4
    captured = capfd.readouterr()
    told = "[image] site_packages none -> /usr/lib/python3/dist-packages"
    assert f"the lock is out of date: {told}" in captured.err
    assert "next: lanewright build sample" in captured.err
    assert not world.places.layouts.exists()
    assert world.run("build") == 0
    assert world.run("image") == 0


def test_no_lock_yet(world: World, capfd: Capture) -> None:
    world.edit("series/sample.toml", "# the hook", TABLE)
    assert world.run("image") == 4
    assert "next: lanewright build sample" in capfd.readouterr().err


def test_every_lock_has_its_own_image(imaged: World, capfd: Capture) -> None:
    assert imaged.run("image") == 0
    first = capfd.readouterr().out
    imaged.edit("overlay/sample_package/__init__.py", "Ours", "Still ours")
    assert imaged.run("image") == 4
    assert imaged.run("build") == 0
    assert imaged.run("verify", "--image") == 1
    assert "next: lanewright image sample" in capfd.readouterr().err
    assert imaged.run("image") == 0
    assert capfd.readouterr().out != first
    assert len(list(imaged.places.layouts.iterdir())) == 2


def test_verify_takes_the_image_where_there_is_one(imaged: World, capfd: Capture) -> None:
    assert imaged.run("verify") == 0
    assert capfd.readouterr().out.startswith("lane sample: lock verified, tree ")
    assert imaged.run("image") == 0
    capfd.readouterr()
    assert imaged.run("verify") == 0
    assert capfd.readouterr().out.startswith("lane sample: lock and layer verified, tree ")
    assert imaged.run("verify", "--image") == 0
    captured = capfd.readouterr()
    assert captured.out.startswith("lane sample: layer verified, tree ")
    assert "lane sample: there is no image on a base here" in captured.err
    assert "next: lanewright image sample\n" in captured.err


def test_another_store_gives_the_same(imaged: World, capfd: Capture) -> None:
    assert imaged.run("image") == 0
    first = capfd.readouterr().out
    folder = layout_folder(imaged.places, locked(imaged))
    before = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    shutil.rmtree(imaged.places.objects)
    shutil.rmtree(imaged.places.layouts)
    assert imaged.run("image") == 0
    assert capfd.readouterr().out == first
    assert {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_verify_without_the_trees_says_so(imaged: World, capfd: Capture) -> None:
    assert imaged.run("image") == 0
    shutil.rmtree(imaged.places.objects)
    assert imaged.run("verify", "--image") == 1
    err = capfd.readouterr().err
    assert "the store lacks its tree" in err
    assert "next: lanewright build sample" in err


def test_status_names_the_image(imaged: World, capfd: Capture) -> None:
    assert imaged.run("status") == 0
    assert "  image: no\n" in capfd.readouterr().out
    assert imaged.run("image") == 0
    folder = layout_folder(imaged.places, locked(imaged))
    capfd.readouterr()
    assert imaged.run("status") == 0
    assert f"  image: layer only, {folder}\n" in capfd.readouterr().out
    assert imaged.run("status", "--json") == 0
    assert json.loads(capfd.readouterr().out)[0]["layout"] == str(folder)


def test_out_puts_it_elsewhere(
    imaged: World, tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert imaged.run("image", "--out", "deep/out") == 0
    out = tmp_path / "deep" / "out"
    assert capfd.readouterr().out.endswith(f" {out}\n")
    assert sorted(path.name for path in out.iterdir()) == ["blobs", "index.json", "oci-layout"]
    assert not imaged.places.layouts.exists()
    assert [path.name for path in out.parent.iterdir()] == ["out"]
    assert imaged.run("image", "--out", "deep/out") == 0
    assert "is there already" in capfd.readouterr().err
    assert imaged.run("image") == 0
    store = layout_folder(imaged.places, locked(imaged))
    assert (out / "index.json").read_bytes() == (store / "index.json").read_bytes()


def test_out_takes_an_empty_folder(imaged: World, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "link").symlink_to(out)
    assert imaged.run("image", "--out", str(tmp_path / "link")) == 0
    assert (out / "index.json").is_file()


def test_out_leaves_what_is_not_its_own_alone(
    imaged: World, tmp_path: Path, capfd: Capture
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    assert imaged.run("image", "--out", str(out)) == 1
    captured = capfd.readouterr()
    assert f"{out} holds something, and it is not this image" in captured.err
    assert "rm -r" not in captured.err
    assert captured.out == ""
    assert [path.name for path in out.iterdir()] == ["mine.txt"]
    assert imaged.run("image", "--out", str(out / "mine.txt")) == 1
    assert (out / "mine.txt").read_text() == "mine"
    assert imaged.run("image", "--out", str(out / "mine.txt" / "below")) == 1


def test_out_refuses_the_image_of_another_lock(imaged: World, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert imaged.run("image", "--out", str(out)) == 0
    imaged.edit("overlay/sample_package/__init__.py", "Ours", "Still ours")
    assert imaged.run("build") == 0
    before = (out / "index.json").read_bytes()
    assert imaged.run("image", "--out", str(out)) == 1
    assert (out / "index.json").read_bytes() == before


def test_a_file_that_needs_compiling_is_refused_with_its_entry(
    imaged: World, capfd: Capture
) -> None:
    before = imaged.lock.read_bytes()
    kernel = imaged.root / "overlay/tree/vllm/kernel.cu"
    kernel.parent.mkdir(parents=True)
    kernel.write_text("__global__ void k() {}\n")
    with (imaged.root / "series/sample.toml").open("a") as series:
        series.write('\n[[entry]]\noverlay = "tree"\n')
    assert imaged.run("build") == 1
    captured = capfd.readouterr()
    assert "series/sample.toml (tree): vllm/kernel.cu needs compiling" in captured.err
    assert "take [image] out" in captured.err
    assert captured.out == ""
    assert imaged.lock.read_bytes() == before
    assert imaged.run("image") == 4
    assert not imaged.places.layouts.exists()
    imaged.edit("series/sample.toml", TABLE, "")
    assert imaged.run("build") == 0


def test_a_conflict_is_told_before_any_layer(imaged: World, capfd: Capture) -> None:
    imaged.edit("series/sample.toml", "release:1.1", "release:1.2")
    assert imaged.run("build") == 3
    assert imaged.run("report", "--json") == 3
    assert json.loads(capfd.readouterr().out)["complete"] is False
