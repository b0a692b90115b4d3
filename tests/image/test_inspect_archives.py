"""Archives as other tools write them, and as one does who means ill."""

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from lanewright.__main__ import run
from lanewright.image.inspect import archive as reading
from lanewright.image.inspect.archive import in_archive
from lanewright.image.opened.image import MOST_BYTES
from lanewright.image.stamps import lane_stamps
from lanewright.queue.lock import Lock
from tests.image import onto
from tests.image.bases import Base, archive

Capture = pytest.CaptureFixture[str]
Members = dict[str, bytes | str | None]
LAYER = archive({"etc/a": b"a"})


def tarred(members: Mapping[str, bytes | str | None], place: Path) -> Path:
    """An archive; a text is a link's target, and None a folder."""
    with tarfile.open(place, "w") as made:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            if isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
            elif content is None:
                info.type = tarfile.DIRTYPE
            else:
                info.size = len(content)
            made.addfile(info, io.BytesIO(content) if isinstance(content, bytes) else None)
    return place


@pytest.fixture
def members(lock: Lock) -> Members:
    """A lane's image as older versions of docker save it: one layer twice, the second a link."""
    diff_id = f"sha256:{hashlib.sha256(LAYER).hexdigest()}"
    config = {
        "architecture": "arm64",
        "os": "linux",
        "config": {"Labels": lane_stamps(lock)},
        "rootfs": {"type": "layers", "diff_ids": [diff_id, diff_id]},
    }
    raw = json.dumps(config).encode()
    name = f"{hashlib.sha256(raw).hexdigest()}.json"
    image = {"Config": name, "RepoTags": None, "Layers": ["one/layer.tar", "two/layer.tar"]}
    return {
        "one/layer.tar": LAYER,
        "two/layer.tar": "../one/layer.tar",
        name: raw,
        "manifest.json": json.dumps([image]).encode(),
    }


def test_what_older_tools_write(
    members: Members, tmp_path: Path, lock: Lock, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tarred(members, tmp_path / "image.tar")
    (tmp_path / "image.tar.gz").write_bytes(gzip.compress(file.read_bytes()))
    monkeypatch.chdir(tmp_path)
    for name in ("image.tar", "image.tar.gz"):
        capfd.readouterr()
        assert run(["image", "inspect", "--json", name]) == 0
        told = onto.printed(capfd.readouterr().out)
        assert told["lock"] == lock.seal
        assert told["platform"] == "linux/arm64"
        assert [layer["size"] for layer in told["layers"]] == [len(LAYER), len(LAYER)]


def edit(members: Members, change: Callable[[Any], object]) -> None:
    raw = members["manifest.json"]
    assert isinstance(raw, bytes)
    found = json.loads(raw)
    change(found)
    members["manifest.json"] = json.dumps(found).encode()


CASES: dict[str, tuple[Callable[[Members], object], str]] = {
    "two images": (lambda m: edit(m, lambda found: found.append(found[0])), "has 2 images"),
    "no image": (lambda m: edit(m, list.clear), "has 0 images"),
    "no list": (lambda m: m.update({"manifest.json": b"{}"}), "manifest.json cannot be read"),
    "a layer that is not there": (
        lambda m: m.update({"two/layer.tar": "../none/layer.tar"}),
        "two/layer.tar is missing in it, or no file",
    ),
    "a layer that is a folder": (
        lambda m: m.update({"one/layer.tar": None}),
        "one/layer.tar is missing in it, or no file",
    ),
    "a link in a ring": (
        lambda m: m.update({"one/layer.tar": "../two/layer.tar"}),
        "is missing in it, or no file",
    ),
    "a layer too few": (
        lambda m: edit(m, lambda found: found[0]["Layers"].pop()),
        "its configuration has 2 layers, and its manifest 1",
    ),
    "a configuration outside": (
        lambda m: edit(m, lambda found: found[0].update(Config="../../etc/passwd")),
        "../../etc/passwd is missing in it, or no file",
    ),
    "a list of any size": (
        lambda m: m.update({"manifest.json": b" " * (MOST_BYTES + 1)}),
        "manifest.json is larger than any document of an image",
    ),
    "nothing of an image": (
        lambda m: m.pop("manifest.json"),
        "it has neither index.json nor manifest.json",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_no_image(
    members: Members, tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    change, told = CASES[case]
    change(members)
    monkeypatch.chdir(tmp_path)
    tarred(members, tmp_path / "image.tar")
    assert run(["image", "inspect", "image.tar"]) == 1
    assert told in capfd.readouterr().err


def test_a_cut_archive(members: Members, tmp_path: Path, capfd: Capture) -> None:
    file = tarred(members, tmp_path / "image.tar")
    file.write_bytes(file.read_bytes()[:700])
    assert run(["image", "inspect", str(file)]) == 1
    assert "is no archive of" in capfd.readouterr().err


def test_no_more_documents_are_unpacked_than_an_image_has(
    tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Base([{"etc/a": b"a"}]).lay(tmp_path / "layout")
    content: Members = dict(onto.contents(folder))
    assert in_archive(tarred(content, tmp_path / "image.tar")).platform == "linux/amd64"
    monkeypatch.setattr(reading, "MOST_DOCUMENTS", 2000)
    content |= {f"blobs/sha256/{number:064x}": b"{" * 500 for number in range(4)}
    assert run(["image", "inspect", str(tarred(content, tmp_path / "large.tar"))]) == 1
    assert "has more documents than any image has" in capfd.readouterr().err


def test_what_leads_out_of_an_archive_is_not_unpacked(tmp_path: Path) -> None:
    folder = Base([{"etc/a": b"a"}]).lay(tmp_path / "layout")
    content: Members = dict(onto.contents(folder))
    outside = tmp_path / "outside"
    content |= {"../outside": b"{}", str(outside): b"{}", f"blobs/sha256/{'0' * 64}": "/etc/passwd"}
    assert in_archive(tarred(content, tmp_path / "image.tar")).layers
    assert not outside.exists()
