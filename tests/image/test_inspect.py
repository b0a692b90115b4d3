"""What is in an image is told from its labels alone."""

import shutil
from pathlib import Path

import pytest

from lanewright.__main__ import run
from lanewright.queue.lock import Lock, layer_of
from tests.conftest import World
from tests.image import onto, tamper
from tests.image.bases import Base
from tests.image.inspecting import alone, image, labels

__all__ = ["image"]
Capture = pytest.CaptureFixture[str]


def test_it_tells_all_without_project_and_store(
    image: Path, amd64: Lock, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = amd64
    capfd.readouterr()
    assert alone(image, monkeypatch) == 0
    out = capfd.readouterr().out
    assert out.startswith(f"lane sample, version 1.1+lane.sample.{lock.tree[:8]}\n")
    for told in (lock.pin.ref, lock.pin.commit, lock.pin.tree, lock.tree, lock.seal):
        assert told in out
    base = onto.config_of(image)["config"]["Labels"]["org.opencontainers.image.base.digest"]
    assert f"  base      {base}\n" in out
    assert "  created   2026-09-28T06:00:00Z\n  platform  linux/amd64\n" in out
    (index,) = tamper.load(image / "index.json")["manifests"]
    manifest = onto.manifest_of(image)
    assert f"  image     {index['digest']}, id {manifest['config']['digest']}\n" in out
    assert f"    {layer_of(lock).digest}  0.0 MiB  the lane's\n" in out
    assert out.count("the lane's") == 1
    hook, package = lock.entries
    assert "  hook: patch, made on release:1.0\n" in out
    assert sorted(hunk.outcome for hunk in hook.hunks) == ["clean", "merged", "merged"]
    assert "    3 hunks: 1 clean, 2 merged\n      clean: " in out
    for hunk in hook.hunks:
        assert hunk.id in out
    assert "  sample_package: overlay\n" in out
    assert f"    sha256 {package.digest}\n    {len(package.files)} files\n" in out


def test_all_of_it_as_json(
    image: Path, amd64: Lock, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = amd64
    capfd.readouterr()
    assert alone(image, monkeypatch, "--json") == 0
    told = onto.printed(capfd.readouterr().out)
    manifest, config = onto.manifest_of(image), onto.config_of(image)
    assert told["pin"] == {"ref": "release:1.1", "commit": lock.pin.commit, "tree": lock.pin.tree}
    assert (told["lane"], told["lock"], told["tree"]) == ("sample", lock.seal, lock.tree)
    assert told["labels"] == config["config"]["Labels"]
    assert told["size"] == sum(layer["size"] for layer in manifest["layers"])
    assert [layer["digest"] for layer in told["layers"]] == [
        layer["digest"] for layer in manifest["layers"]
    ]
    assert [layer["lane"] for layer in told["layers"]] == [False, False, True]
    hook, package = told["entries"]
    ids = [identity for found in hook["hunks"].values() for identity in found]
    assert sorted(ids) == sorted(hunk.id for hunk in lock.entries[0].hunks)
    assert package["files"] == len(lock.entries[1].files)


def test_a_lane_by_name_or_by_default(imaged: World, image: Path, capfd: Capture) -> None:
    for words in ((), ("sample",)):
        capfd.readouterr()
        assert imaged.run("image", "inspect", "--json", *words) == 0
        told = onto.printed(capfd.readouterr().out)
        assert told["place"] == str(onto.the_folder(imaged))
    shutil.rmtree(onto.the_folder(imaged))
    assert image.is_dir()
    capfd.readouterr()
    # What is left is the layer alone.
    assert imaged.run("image", "inspect") == 0
    assert "  base      none: the layer alone\n" in capfd.readouterr().out


def test_a_lane_without_image(imaged: World, lock: Lock, capfd: Capture) -> None:
    assert lock.lane == "sample"
    assert imaged.run("image", "inspect") == 1
    err = capfd.readouterr().err
    assert "lane sample: there is no image of its lock on this machine" in err
    assert "next: lanewright image sample" in err


def test_what_is_no_image(imaged: World, tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "text").write_text("hello")
    cases = {
        "nowhere": "there is no image nowhere, nor a lane of that name (lanes here: sample)",
        str(tmp_path / "text"): "is no archive of an image",
        str(tmp_path): "is no OCI layout, or not whole: index.json",
    }
    for given, told in cases.items():
        assert imaged.run("image", "inspect", given) == 1
        err = capfd.readouterr().err
        assert told in err
        assert "\n  next: name " in err


FATAL = 'time="2026-12-03T06:46:51Z" level=fatal msg="Error parsing image name \\"x\\": %s"'


@pytest.mark.parametrize(
    ("why", "told"),
    [
        (
            'reference \\"[overlay@/a+/b]x\\" does not resolve to an image ID: no image',
            "there is no image containers-storage:x\n",
        ),
        (
            "invalid reference format",
            (
                'containers-storage:x cannot be read by skopeo: Error parsing image name "x": invalid'
                " reference format\n"
            ),
        ),
    ],
)
def test_what_no_storage_has_is_told_in_a_sentence(
    imaged: World,
    tmp_path: Path,
    capfd: Capture,
    monkeypatch: pytest.MonkeyPatch,
    why: str,
    told: str,
) -> None:
    skopeo = tmp_path / "programs/skopeo"
    skopeo.parent.mkdir()
    skopeo.write_text(f"#!/bin/sh\ncat >&2 <<'END'\nlevel=info\n{FATAL % why}\nEND\nexit 1\n")
    skopeo.chmod(0o755)
    monkeypatch.setenv("PATH", f"{skopeo.parent}:/usr/bin:/bin")
    assert imaged.run("image", "inspect", "containers-storage:x") == 1
    err = capfd.readouterr().err
    assert f"lanewright: {told}  next: `podman images` lists those of this user; or " in err
    assert "level=" not in err


def test_without_project_a_place_is_needed(
    tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["image", "inspect"]) == 1
    assert "no lane is the default one" in capfd.readouterr().err
    # All others still need one.
    assert run(["image", "smoke"]) == 1
    assert "no upstream.toml" in capfd.readouterr().err


def test_an_image_of_others_says_whose_it_is(
    tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Base([{"etc/a": b""}]).lay(tmp_path / "elsewhere/image")
    assert alone(folder, monkeypatch) == 1
    err = capfd.readouterr().err
    assert "image is no lane's image: it has no label dev.lanewright.lane" in err
    assert "it does not say whose it is" in err
    labels(folder, lambda found: found.update({"org.opencontainers.image.title": "Oth\ners\x1b"}))
    assert alone(folder, monkeypatch) == 1
    assert r"it says of itself org.opencontainers.image.title='Oth\\ners\\x1b'" in (
        capfd.readouterr().err
    )
    labels(folder, lambda found: found.update({"dev.lanewright.base.recipe": "sha256:0"}))
    assert alone(folder, monkeypatch) == 1
    assert "it is a base that `lanewright image base` made" in capfd.readouterr().err
    labels(folder, dict.clear)
    assert alone(folder, monkeypatch) == 1
    assert "it has no labels at all" in capfd.readouterr().err
