"""``image mirror`` where it need not, or cannot, be: told, and no failure; and without network."""

import json
from pathlib import Path

import pytest

from lanewright.queue.lock import Lock, layer_of
from tests.conftest import World
from tests.image import onto
from tests.image.bases import Base, Paths, of_pin
from tests.image.naming import named

Capture = pytest.CaptureFixture[str]
NAME = "localhost:1/vllm/vllm-openai:nightly"
NONE = f"sha256:{'1' * 64}"


@pytest.fixture
def _no_skopeo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH with git alone, as where no container tool is."""
    (tmp_path / "bin").mkdir()
    for place in ("/usr/bin/git", "/usr/local/bin/git"):
        if Path(place).exists():
            (tmp_path / "bin/git").symlink_to(place)
            break
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def base_of(world: World, lock: Lock, folder: Path, more: Paths = {}) -> tuple[Path, str]:  # noqa: B006
    """A base for arm64, and its digest."""
    paths = {**of_pin(world.repository, lock), **more}
    base = Base([paths], architectures=["arm64"]).lay(folder)
    (listed,) = json.loads((base / "index.json").read_bytes())["manifests"]
    return base, listed["digest"]


@pytest.mark.usefixtures("_no_skopeo")
def test_without_skopeo_it_is_told_and_asked_for_it_fails(
    imaged: World, lock: Lock, capfd: Capture
) -> None:
    assert lock.layer
    named(imaged, "sample", NAME, NONE)
    capfd.readouterr()
    assert imaged.run("image", "mirror", "--optional") == 0
    captured = capfd.readouterr()
    assert not captured.out
    assert f"lane sample: no base is kept: {NAME} takes skopeo" in captured.err
    assert "next: apt-get install skopeo && lanewright image mirror sample" in captured.err
    assert imaged.run("image", "mirror") == 1
    assert "takes skopeo, and it is not on PATH" in capfd.readouterr().err


def test_a_lane_without_a_base_is_told(imaged: World, lock: Lock, capfd: Capture) -> None:
    assert lock.layer
    assert imaged.run("image", "mirror", "--optional") == 0
    assert "lane sample: no base is kept: its series names none" in capfd.readouterr().err
    assert imaged.run("image", "mirror", "--optional", "--every") == 0
    assert "no lane names a base" in capfd.readouterr().err


@pytest.mark.usefixtures("_no_skopeo")
def test_what_is_kept_needs_neither_skopeo_nor_network(
    imaged: World, lock: Lock, tmp_path: Path, capfd: Capture
) -> None:
    base, digest = base_of(imaged, lock, tmp_path / "base")
    # Nobody answers there.
    named(imaged, "sample", NAME, digest)
    assert imaged.run("image", "mirror", "--optional", "--base", str(base)) == 0
    for words in (["--optional"], [], ["--every"]):
        capfd.readouterr()
        assert imaged.run("image", "mirror", *words) == 0
        captured = capfd.readouterr()
        assert "lane sample: linux/arm64 is kept already" in captured.err
        assert captured.out.startswith(digest)
    capfd.readouterr()
    assert imaged.run("image", "smoke", "--optional") == 0
    told = "not run in a container: there is no image of its lock on this machine\n"
    assert f"{told}  next: lanewright image sample\n" in capfd.readouterr().err
    assert imaged.run("image") == 0
    assert onto.config_of(onto.the_folder(imaged))["architecture"] == "arm64"


def test_every_lane_with_a_base_and_no_other(
    imaged: World, lock: Lock, tmp_path: Path, capfd: Capture
) -> None:
    base, digest = base_of(imaged, lock, tmp_path / "base")
    named(imaged, "other", NAME, digest)
    assert imaged.run("image", "mirror", "other", "--base", str(base)) == 0
    capfd.readouterr()
    assert imaged.run("image", "mirror", "--every", "--json") == 0
    captured = capfd.readouterr()
    assert [each["lane"] for each in onto.printed(captured.out)] == ["other"]
    assert "sample" not in captured.err


def test_a_lane_that_cannot_be_locked_yet_has_its_base_kept(
    imaged: World, lock: Lock, tmp_path: Path, capfd: Capture
) -> None:
    base, digest = base_of(imaged, lock, tmp_path / "base")
    named(imaged, "other", NAME, digest)
    (imaged.root / "series/other.lock").unlink()
    with (imaged.root / "series/other.toml").open("a") as series:
        series.write("\n[[entry]]\npull = 5\n")
    capfd.readouterr()
    assert imaged.run("image", "other") == 1
    told = "next: lanewright add 5 --lane other; its base, if not kept yet: lanewright image mirror other\n"
    assert told in capfd.readouterr().err
    assert imaged.run("image", "mirror", "other", "--base", str(base)) == 0
    assert capfd.readouterr().out.startswith(digest)
    assert imaged.run("image", "mirror", "--every", "--json") == 0
    captured = capfd.readouterr()
    assert [each["lane"] for each in onto.printed(captured.out)] == ["other"]
    assert "lane other: linux/arm64 is kept already" in captured.err


def test_a_stale_lock_is_no_hindrance(imaged: World, lock: Lock, tmp_path: Path) -> None:
    base, digest = base_of(imaged, lock, tmp_path / "base")
    named(imaged, "other", NAME, digest)
    imaged.edit("patches/own/hook.patch", "Description:", "Description: another;")
    assert imaged.run("image", "other") == 4
    assert imaged.run("image", "mirror", "other", "--base", str(base)) == 0
    assert imaged.run("image", "mirror", "--every") == 0


def test_a_series_that_names_another_base_than_its_lock(
    imaged: World, lock: Lock, tmp_path: Path, capfd: Capture
) -> None:
    """The lane stands on the one until it is built, and is wanted on the other."""
    old, locked = base_of(imaged, lock, tmp_path / "old")
    new, wanted = base_of(imaged, lock, tmp_path / "new", {"etc/new": b""})
    assert wanted != locked
    named(imaged, "other", NAME, locked)
    assert imaged.run("image", "mirror", "other", "--base", str(old)) == 0
    imaged.edit("series/other.toml", locked, wanted)
    assert imaged.run("image", "mirror", "other", "--base", str(old)) == 1
    assert imaged.run("image", "mirror", "other", "--base", str(new)) == 0
    capfd.readouterr()
    assert imaged.run("image", "mirror", "--every") == 0
    assert [line.split()[0] for line in capfd.readouterr().out.splitlines()] == [locked, wanted]


@pytest.mark.parametrize("words", [["sample"], ["--base", "x"]])
def test_every_is_of_all(imaged: World, capfd: Capture, words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        imaged.run("image", "mirror", "--every", *words)
    assert ended.value.code == 2
    assert "--every` is of all lanes" in capfd.readouterr().err


def test_the_layer_is_made_without_the_base(imaged: World, lock: Lock, capfd: Capture) -> None:
    assert lock.layer
    named(imaged, "sample", NAME, NONE)
    assert imaged.run("image") == 1
    err = capfd.readouterr().err
    assert f"its base {NAME} ({NONE}) is not on this machine" in err
    assert "next: lanewright image mirror sample" in err
    (folder,) = imaged.places.layouts.iterdir()
    assert (folder / "blobs" / layer_of(lock).digest.replace(":", "/")).is_file()
    assert imaged.run("verify", "--image") == 0
