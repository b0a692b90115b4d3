"""Layers and archives whose headers somebody made to eat memory, or to break who reads them."""

import gzip
import io
import tarfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.image.opened import bounded as module
from lanewright.image.opened.bounded import LONGEST, MOST_BYTES, MOST_IN_A_ROW, members_of
from lanewright.image.opened.contents import contents_of
from lanewright.image.opened.image import open_image
from lanewright.places import Places
from tests.conftest import World
from tests.image.bases import Base
from tests.process import finish, start

Capture = pytest.CaptureFixture[str]
MIB = 2**20
HUGE, MOST_PEAK = 64 * MIB, 12 * MIB
END = bytes(2 * tarfile.BLOCKSIZE)


def header(kind: bytes, content: bytes, size: int | None = None) -> bytes:
    """A member as it lies in an archive, whatever it says of its size."""
    info = tarfile.TarInfo("member")
    info.type, info.size = kind, len(content) if size is None else size
    padding = bytes(-len(content) % tarfile.BLOCKSIZE)
    return info.tobuf(tarfile.GNU_FORMAT) + content + padding


def record(key: str, value: bytes) -> bytes:
    """An attribute as PAX has it."""
    text = f" {key}=".encode() + value + b"\n"
    length = len(text)
    while length != len(text) + len(str(length)):
        length = len(text) + len(str(length))
    return str(length).encode() + text


FILE = header(tarfile.REGTYPE, b"content")
SPARSE = {"GNU.sparse.major": b"1", "GNU.sparse.minor": b"0", "GNU.sparse.realsize": b"9"}


def pax(**attributes: bytes) -> bytes:
    content = b"".join(record(k.replace("__", "."), v) for k, v in attributes.items())
    return header(tarfile.XHDTYPE, content)


def globals_of(number: int) -> bytes:
    """Attributes for all that follow, in many headers with a member behind each."""
    each = MOST_BYTES // 8
    return b"".join(
        header(tarfile.XGLTYPE, record(f"key.{n}", b"a" * each)) + FILE for n in range(number)
    )


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "attributes": (lambda: header(tarfile.XHDTYPE, record("comment", b"a" * HUGE)), "a header of"),
    "attributes for all": (
        lambda: header(tarfile.XGLTYPE, record("comment", b"a" * HUGE)),
        "a header of",
    ),
    "attributes of Solaris": (lambda: header(tarfile.SOLARIS_XHDTYPE, bytes(HUGE)), "a header of"),
    "a name": (lambda: header(tarfile.GNUTYPE_LONGNAME, b"a" * HUGE), f"a header of {HUGE} bytes"),
    "a target": (
        lambda: header(tarfile.GNUTYPE_LONGLINK, b"a" * HUGE),
        f"a header of {HUGE} bytes",
    ),
    "a name as long as is read": (
        lambda: header(tarfile.GNUTYPE_LONGNAME, b"a" * MIB) + FILE,
        f"a name has {MIB} characters, and a path up to {LONGEST}",
    ),
    "a target as an attribute": (
        lambda: pax(linkpath=b"a" * (LONGEST + 1)) + header(tarfile.SYMTYPE, b""),
        f"a name has {LONGEST + 1} characters",
    ),
    "one header behind the other": (
        lambda: header(tarfile.XHDTYPE, record("comment", b"a")) * (MOST_IN_A_ROW + 1) + FILE,
        "in up to 16 headers",
    ),
    "a long chain": (lambda: header(tarfile.GNUTYPE_LONGNAME, b"a") * 5000 + FILE, "in up to 16"),
    "two that are too much together": (
        lambda: (pax(comment=b"a" * (600 * 1024)) * 2) + FILE,
        f"have up to {MOST_BYTES} bytes",
    ),
    "attributes for all, bit by bit": (lambda: globals_of(9), f"have up to {MOST_BYTES} bytes"),
    "a size below nothing": (lambda: pax(size=b"-512") + FILE, "a member has -512 bytes"),
    "a name of a size below nothing": (
        lambda: header(tarfile.GNUTYPE_LONGNAME, b"", size=-512) + FILE,
        "a member has -512 bytes",
    ),
    "a map of holes": (lambda: header(tarfile.GNUTYPE_SPARSE, b""), "it has a sparse file"),
    "a map of holes in the content": (
        lambda: (
            header(tarfile.XHDTYPE, b"".join(record(*each) for each in SPARSE.items()))
            + header(tarfile.REGTYPE, b"9999999\n" + b"0\n" * (4 * MIB))
        ),
        "it has a sparse file",
    ),
    "a map of holes as an attribute": (
        lambda: header(tarfile.XHDTYPE, record("GNU.sparse.map", b"0,1")) + FILE,
        "it has a sparse file",
    ),
    "a map that is none": (
        lambda: header(tarfile.XHDTYPE, record("GNU.sparse.map", b"a")) + FILE,
        "cannot be read",
    ),
}


def read(places: Places, layer: bytes, folder: Path) -> set[str]:
    base = Base([layer], packed="gzip", architectures=["arm64"]).lay(folder)
    return set(contents_of(places, open_image(base, None)))


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_layer_is_refused_and_takes_no_memory(
    places: Places, tmp_path: Path, case: str
) -> None:
    make, told = HOSTILE[case]
    base = Base([FILE + make() + END], packed="gzip", architectures=["arm64"]).lay(
        tmp_path / "base"
    )
    image = open_image(base, None)
    tracemalloc.start()
    try:
        with pytest.raises(LanewrightError, match=r"^layer sha256:.* cannot be read: ") as error:
            contents_of(places, image)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert told in str(error.value)
    assert len(str(error.value)) < 1000
    assert peak < MOST_PEAK
    assert not list((places.base_images / "contents").glob("*"))


ARCHIVES = ("a name", "one header behind the other", "a size below nothing", "a map that is none")


@pytest.mark.parametrize("command", ["image --base", "image inspect"])
@pytest.mark.parametrize("case", ARCHIVES)
def test_a_hostile_archive_is_refused(
    imaged: World, tmp_path: Path, case: str, command: str
) -> None:
    make, told = HOSTILE[case]
    archive = tmp_path / "archive.tar"
    archive.write_bytes(gzip.compress(FILE + make() + END, 1, mtime=0))
    assert imaged.run("build") == 0
    # In a process of its own: what goes backwards in a file never ends.
    code, _, err = finish(start(imaged.root, *command.split(), str(archive)))
    assert code == 1, err
    assert f"lanewright: {archive} is no archive of an image: " in err
    assert told in err or case == "a map that is none"
    assert "Traceback" not in err


def test_the_command_ends_with_1(imaged: World, tmp_path: Path, capfd: Capture) -> None:
    make, told = HOSTILE["a name"]
    base = Base([make() + END], packed="gzip", architectures=["amd64", "arm64"]).lay(tmp_path / "b")
    assert imaged.run("build") == 0
    assert imaged.run("image", "--base", str(base)) == 1
    err = capfd.readouterr().err
    assert f"cannot be read: {told} is too much" in err
    assert "next: make the image, or its mirror, again" in err
    assert not list(imaged.places.layouts.glob("*-on-*"))


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names_that_there_are_are_read(places: Places, tmp_path: Path, form: int) -> None:
    name = "/".join(["a" * 100] * 40)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as made:
        for each in (name, f"{name}b"):
            info = tarfile.TarInfo(each)
            info.type, info.linkname = tarfile.SYMTYPE, f"/{each}"
            made.addfile(info)
    # As `git archive` and others have it.
    layer = header(tarfile.XGLTYPE, record("comment", b"a" * 40)) + buffer.getvalue()
    assert read(places, layer, tmp_path / "base") >= {name, f"{name}b"}


def test_attributes_are_counted_for_each_member_alone_and_let_go(
    places: Places, tmp_path: Path
) -> None:
    layer = (pax(comment=b"a" * (600 * 1024)) + FILE) * 40 + END
    base = Base([layer], packed="gzip", architectures=["arm64"]).lay(tmp_path / "base")
    image = open_image(base, None)
    tracemalloc.start()
    try:
        assert "member" in contents_of(places, image)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MOST_PEAK


def test_nothing_of_a_member_stays_behind(tmp_path: Path) -> None:
    place = tmp_path / "archive.tar"
    place.write_bytes((pax(path=b"other", comment=b"a") + FILE) * 3 + END)
    with tarfile.open(place, tarinfo=module.bounded()) as archive:
        found = list(members_of(archive))
        assert vars(archive)["members"] == []
    assert [info.name for info in found] == ["other"] * 3
    assert [info.pax_headers for info in found] == [{}] * 3


def test_names_together_have_a_bound(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_NAMES", 100_000)
    few = {f"{n}/{'a/' * 40}": b"" for n in range(10)}
    base = Base([few], architectures=["arm64"]).lay(tmp_path / "base")
    with pytest.raises(LanewrightError, match="has more names than any image has"):
        # Each folder on the way counts, not the ten names alone.
        contents_of(places, open_image(base, None))
