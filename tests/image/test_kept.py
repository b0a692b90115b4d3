"""What the store takes as a base, and which of a lane's images is meant."""

import json
import os
import shutil
import tarfile
from pathlib import Path

import pytest

from lanewright.image.onto.base import architecture_of
from lanewright.queue.lock import Lock
from lanewright.queue.series import load_series
from tests.conftest import World
from tests.image import onto
from tests.image.bases import Base, Paths, keep, of_pin

Capture = pytest.CaptureFixture[str]
BASE = "org.opencontainers.image.base.digest"


def laid(imaged: World, lock: Lock, folder: Path, architecture: str = "", more: str = "") -> Path:
    here = architecture_of(load_series(imaged.project, "sample")) or ""
    layers: list[Paths] = [of_pin(imaged.repository, lock), {"etc/more": more.encode()}]
    return Base(layers, architectures=[architecture or here]).lay(folder)


def largest(layout: Path) -> Path:
    return max((layout / "blobs/sha256").iterdir(), key=lambda path: path.stat().st_size)


def test_a_link_is_no_blob(imaged: World, lock: Lock, tmp_path: Path, capfd: Capture) -> None:
    layout = laid(imaged, lock, tmp_path / "base")
    blob = largest(layout)
    blob.rename(tmp_path / "elsewhere")
    blob.symlink_to(tmp_path / "elsewhere")
    assert imaged.run("image", "--base", str(layout)) == 1
    assert "is missing, or no regular file" in capfd.readouterr().err
    assert not list(imaged.places.base_images.glob("sha256-*"))


def test_a_damaged_blob_is_not_kept(
    imaged: World, lock: Lock, tmp_path: Path, capfd: Capture
) -> None:
    layout = laid(imaged, lock, tmp_path / "base")
    with largest(layout).open("r+b") as stream:
        stream.write(b"x")
    assert imaged.run("image", "--base", str(layout)) == 1
    assert "is not what its name says" in capfd.readouterr().err
    assert not list(imaged.places.base_images.glob("sha256-*"))


def test_a_pipe_is_no_document(imaged: World, lock: Lock, tmp_path: Path, capfd: Capture) -> None:
    layout = laid(imaged, lock, tmp_path / "base")
    (layout / "index.json").unlink()
    os.mkfifo(layout / "index.json")
    assert imaged.run("image", "--base", str(layout)) == 1
    assert "index.json is no regular file" in capfd.readouterr().err


def test_an_archive_brings_nothing_but_a_layout(
    imaged: World, lock: Lock, tmp_path: Path, capfd: Capture
) -> None:
    layout, outside = laid(imaged, lock, tmp_path / "base"), tmp_path / "outside"
    outside.mkdir()
    with tarfile.open(tmp_path / "base.tar", "w") as archive:
        for path in sorted(layout.rglob("*")):
            if path.is_file():
                archive.add(path, path.relative_to(layout).as_posix())
        link = tarfile.TarInfo("way")
        link.type, link.linkname = tarfile.SYMTYPE, str(outside)
        archive.addfile(link)
        archive.add(layout / "oci-layout", "way/written")
        archive.add(layout / "oci-layout", "../written")
    assert imaged.run("image", "--base", str(tmp_path / "base.tar")) == 0, capfd.readouterr().err
    assert list(outside.iterdir()) == []
    assert not list(imaged.places.store.rglob("written"))


def test_a_kept_base_for_another_machine(
    imaged: World, lock: Lock, tmp_path: Path, capfd: Capture
) -> None:
    here = architecture_of(load_series(imaged.project, "sample"))
    other = "amd64" if here == "arm64" else "arm64"
    layout = laid(imaged, lock, tmp_path / "base", other)
    digest = onto.load(layout / "index.json")["manifests"][0]["digest"]
    assert imaged.run("image", "--base", str(layout)) == 1
    imaged.edit("series/sample.toml", "[image]\n", f'[image]\narchitecture = "{other}"\n')
    assert imaged.run("build") == 0
    assert imaged.run("image", "--base", str(layout)) == 0
    imaged.edit("series/sample.toml", f'architecture = "{other}"', f'architecture = "{here}"')
    assert imaged.run("build") == 0
    capfd.readouterr()
    assert imaged.run("image", "--base", digest) == 1
    assert f"is for {other}, and the lane's is for {here}" in capfd.readouterr().err


def test_a_lanes_own_base_goes_before_a_later_one(
    imaged: World, lock: Lock, tmp_path: Path, capfd: Capture
) -> None:
    first, second = (laid(imaged, lock, tmp_path / name, more=name) for name in ("one", "two"))
    digest = onto.load(first / "index.json")["manifests"][0]["digest"]
    named = f'base = "docker.io/vllm/vllm-openai:nightly"\ndigest = "{digest}"\n'
    imaged.edit("series/sample.toml", "[image]\n", f"[image]\n{named}")
    assert imaged.run("build") == 0
    for layout in (first, second):
        assert imaged.run("image", "--base", str(layout)) == 0
    assert len(onto.folders(imaged)) == 2
    capfd.readouterr()
    assert imaged.run("image", "inspect", "--json") == 0
    assert onto.printed(capfd.readouterr().out)["labels"][BASE] == digest


@pytest.mark.parametrize("command", ["image --base", "image inspect"])
def test_what_has_no_end_is_not_read(
    imaged: World, lock: Lock, tmp_path: Path, capfd: Capture, command: str
) -> None:
    assert lock.layer
    os.mkfifo(tmp_path / "pipe")
    for place in (str(tmp_path / "pipe"), "/dev/zero"):
        assert imaged.run(*command.split(), place) == 1
        assert f"{place} is no regular file" in capfd.readouterr().err


def test_no_base_is_not_the_lanes_own(imaged: World, lock: Lock, capfd: Capture) -> None:
    assert lock.layer
    with pytest.raises(SystemExit) as ended:
        imaged.run("image", "--base", "")
    assert ended.value.code == 2
    assert "argument --base: it is empty" in capfd.readouterr().err


def test_a_colon_in_an_archives_path(
    imaged: World, lock: Lock, served: Path, tmp_path: Path, capfd: Capture
) -> None:
    """skopeo takes what is behind it for a name."""
    assert lock.layer
    archive = tmp_path / "a:b.tar"
    with tarfile.open(archive, "w") as made:
        made.addfile(tarfile.TarInfo("manifest.json"))
    note = (
        'for word; do case "$word" in docker-archive:*) echo "$PWD $word" >&2;; esac; done; exit 1'
    )
    (served.parent / "programs/skopeo").write_text(f"#!/bin/sh\n{note}\n")
    assert imaged.run("image", "--base", str(archive)) == 1
    err = capfd.readouterr().err
    assert f"cannot copy {archive}" in err
    assert " docker-archive:archive.tar\n" in err


def test_lists_that_name_each_other_have_an_end(
    imaged: World, lock: Lock, tmp_path: Path, capfd: Capture
) -> None:
    layout = laid(imaged, lock, tmp_path / "base")
    document = json.loads((layout / "index.json").read_bytes())
    kind = "application/vnd.oci.image.index.v1+json"
    for _ in range(3):
        lists = [json.dumps({**document, "annotations": {"n": str(n)}}).encode() for n in range(40)]
        document = {"schemaVersion": 2, "manifests": [keep(layout, kind, each) for each in lists]}
    (layout / "index.json").write_text(json.dumps(document))
    assert imaged.run("image", "--base", str(layout)) == 1
    assert "names more than 1024 images" in capfd.readouterr().err


def test_a_file_in_an_images_place(
    imaged: World, lock: Lock, tmp_path: Path, capfd: Capture
) -> None:
    layout = laid(imaged, lock, tmp_path / "base")
    assert imaged.run("image", "--base", str(layout)) == 0
    folder = onto.the_folder(imaged)
    shutil.rmtree(folder)
    folder.write_text("")
    assert imaged.run("verify", "--image") == 5
    assert imaged.run("image", "--base", str(layout)) == 0, capfd.readouterr().err
    assert imaged.run("verify", "--image") == 0


def test_a_store_that_takes_no_notes_is_verified(
    imaged: World, lock: Lock, tmp_path: Path, capfd: Capture
) -> None:
    assert imaged.run("image", "--base", str(laid(imaged, lock, tmp_path / "base"))) == 0
    notes = imaged.places.base_images / "contents"
    shutil.rmtree(notes)
    notes.write_text("")
    assert imaged.run("verify", "--image") == 0, capfd.readouterr().err
