"""An image in one file: for podman, for docker, the same bytes twice."""

import hashlib
import json
import os
import shutil
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from lanewright.__main__ import run
from lanewright.image.archive.members import ArchiveMember
from lanewright.image.archive.streamed import write_archive
from lanewright.queue.lock import Lock, layer_of
from tests.conftest import World
from tests.image import onto
from tests.image.bases import Base, Paths, of_pin

Capture = pytest.CaptureFixture[str]
FORMS = ("oci", "docker")
MIB = 2**20


@pytest.fixture
def base(imaged: World, amd64: Lock, tmp_path: Path) -> Path:
    layers: list[Paths] = [of_pin(imaged.repository, amd64), {"etc/same": b""}, {"etc/same": b""}]
    return Base(layers, packed="gzip").lay(tmp_path / "base")


def archive(world: World, base: Path, out: Path, form: str) -> Path:
    words = ("--base", str(base), "--archive", str(out), "--format", form)
    assert world.run("image", *words) == 0
    return out / f"sample.{form}.tar"


def members(file: Path) -> dict[str, bytes]:
    """Every file of an archive."""
    with tarfile.open(file) as opened:
        streams = {info.name: opened.extractfile(info) for info in opened if info.isreg()}
        return {name: stream.read() for name, stream in streams.items() if stream}


def test_an_oci_archive_is_the_layout(imaged: World, base: Path, tmp_path: Path) -> None:
    file = archive(imaged, base, tmp_path / "out", "oci")
    assert members(file) == onto.contents(onto.the_folder(imaged))


def test_a_docker_archive_names_config_and_layers(
    imaged: World, amd64: Lock, base: Path, tmp_path: Path
) -> None:
    found = members(archive(imaged, base, tmp_path / "out", "docker"))
    (listed,) = json.loads(found.pop("manifest.json"))
    folder = onto.the_folder(imaged)
    config = found.pop(listed["Config"])
    assert json.loads(config) == onto.config_of(folder)
    assert f"{hashlib.sha256(config).hexdigest()}.json" == listed["Config"]
    assert listed["RepoTags"] == [f"lanewright/sample:1.1_lane.sample.{amd64.tree[:8]}"]
    layers = [layer["digest"] for layer in onto.manifest_of(folder)["layers"]]
    assert listed["Layers"] == [f"blobs/{digest.replace(':', '/')}" for digest in layers]
    # Two of them are the same; it is there once, and nothing else is.
    assert found.keys() == set(listed["Layers"])
    assert len(listed["Layers"]) == len(found) + 1
    for name, content in found.items():
        assert hashlib.sha256(content).hexdigest() == Path(name).name


@pytest.mark.parametrize("form", FORMS)
def test_the_same_bytes_twice(imaged: World, base: Path, tmp_path: Path, form: str) -> None:
    first = archive(imaged, base, tmp_path / "first", form)
    for folder in (imaged.places.layouts, imaged.places.base_images):
        shutil.rmtree(folder)
    before = os.umask(0o077)
    try:
        second = archive(imaged, base, tmp_path / "second", form)
    finally:
        os.umask(before)
    assert {path.name: path.read_bytes() for path in first.parent.iterdir()} == {
        path.name: path.read_bytes() for path in second.parent.iterdir()
    }
    with tarfile.open(first) as opened:
        found = list(opened)
    assert {(info.uid, info.gid, info.uname, info.mtime) for info in found} == {
        (0, 0, "", 946684800)
    }
    names = [info.name for info in found]
    assert names == sorted(set(names))


@pytest.mark.parametrize("form", FORMS)
def test_inspect_reads_it(
    imaged: World,
    amd64: Lock,
    base: Path,
    tmp_path: Path,
    form: str,
    capfd: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = archive(imaged, base, tmp_path / "out", form)
    monkeypatch.chdir(file.parent)
    capfd.readouterr()
    assert run(["image", "inspect", "--json", file.name]) == 0
    told = onto.printed(capfd.readouterr().out)
    folder = onto.the_folder(imaged)
    manifest = onto.manifest_of(folder)
    assert told["labels"] == onto.config_of(folder)["config"]["Labels"]
    assert told["id"] == manifest["config"]["digest"]
    assert [layer["size"] for layer in told["layers"]] == [
        layer["size"] for layer in manifest["layers"]
    ]
    assert told["layers"][-1]["diff_id"] == layer_of(amd64).digest
    (index,) = json.loads((folder / "index.json").read_bytes())["manifests"]
    assert told["image"] == (index["digest"] if form == "oci" else None)


@pytest.mark.parametrize("form", FORMS)
def test_an_edited_configuration_in_it_is_seen(
    imaged: World, base: Path, tmp_path: Path, form: str, capfd: Capture
) -> None:
    file = archive(imaged, base, tmp_path / "out", form)
    content = file.read_bytes()
    assert content.count(b'"maker":"others"') == 1
    file.write_bytes(content.replace(b'"maker":"others"', b'"maker":"nobody"'))
    assert imaged.run("image", "inspect", str(file)) == 1
    assert "is not what its name says: it is damaged" in capfd.readouterr().err


def test_it_is_told_to_programs(imaged: World, base: Path, tmp_path: Path, capfd: Capture) -> None:
    out = tmp_path / "out"
    capfd.readouterr()
    words = ("--base", str(base), "--archive", str(out), "--format", "docker", "--json")
    assert imaged.run("image", *words) == 0
    told = onto.printed(capfd.readouterr().out)["archive"]
    file = Path(told["file"])
    assert file == out / "sample.docker.tar"
    assert told["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert told["size"] == file.stat().st_size
    assert {Path(each) for each in told["papers"]} == set(out.iterdir()) - {file}


def test_without_a_base_nothing_is_written(
    imaged: World, amd64: Lock, tmp_path: Path, capfd: Capture
) -> None:
    assert amd64.layer
    assert imaged.run("image", "--archive", str(tmp_path / "out")) == 1
    err = capfd.readouterr().err
    assert "an archive has its whole image, and there is no base" in err
    assert "next: lanewright image base sample" in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "blocked", ["sample.oci.tar", "sample.cdx.json", "sample.oci.provenance.json"]
)
def test_all_or_nothing(
    imaged: World, base: Path, tmp_path: Path, capfd: Capture, blocked: str
) -> None:
    out = tmp_path / "out"
    archive(imaged, base, out, "oci")
    names = sorted(path.name for path in out.iterdir())
    assert names == ["sample.cdx.json", "sample.oci.provenance.json", "sample.oci.tar"]
    for path in out.iterdir():
        path.write_text("before")
    (out / blocked).unlink()
    (out / blocked / "inside").mkdir(parents=True)
    assert imaged.run("image", "--base", str(base), "--archive", str(out)) == 1
    assert f"{blocked} is a folder there" in capfd.readouterr().err
    assert sorted(path.name for path in out.iterdir()) == names
    assert all(path.read_text() == "before" for path in out.iterdir() if path.is_file())


def test_a_file_in_the_folders_place(
    imaged: World, base: Path, tmp_path: Path, capfd: Capture
) -> None:
    (tmp_path / "out").write_text("")
    words = ("--base", str(base), "--archive", str(tmp_path / "out"))
    assert imaged.run("image", *words) == 1
    assert "cannot write the archive" in capfd.readouterr().err


def test_it_is_streamed(tmp_path: Path) -> None:
    """A layer larger than what may be in memory goes through."""
    large = tmp_path / "large"
    with large.open("wb") as stream:
        stream.truncate(64 * MIB)
    tracemalloc.start()
    try:
        digest = write_archive([ArchiveMember("large", large)], tmp_path / "made.tar")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 16 * MIB
    with (tmp_path / "made.tar").open("rb") as stream:
        assert hashlib.file_digest(stream, "sha256").hexdigest() == digest
