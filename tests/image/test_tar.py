"""A layer's bytes: fixed by a digest here, read back by two other programs."""

import hashlib
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from lanewright.image.tar import Member, pack, unpack

FILE, FOLDER, LINK = tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE
LONG = "/".join(["a" * 60] * 5)
NAMES = [
    "plain.py",
    "a b\tc.py",
    "ünï/日本.py",
    "b" * 100,
    "c" * 101,
    f"{'d' * 90}/{'e' * 90}",
    LONG,
    "f" * 255,
    "latin-\udce9.py",
    "ünï-\udce9.py",
    f"{'g' * 120}-\udcff",
    "new\nline",
    "-dash",
    "back\\slash",
]
MEMBERS = [
    Member("folder", FOLDER, 0o755),
    Member("empty", FILE, 0o644),
    Member("run", FILE, 0o755, b"#!/bin/sh\n"),
    Member("link", LINK, 0o777, b"plain.py"),
    Member("far", LINK, 0o777, b"../" * 60 + b"x"),
    Member("odd", LINK, 0o777, b"caf\xe9"),
    *(Member(name, FILE, 0o644, name.encode("utf-8", "surrogateescape")) for name in NAMES),
]
GOLDEN = "cb1e6dc8926620d6d0e187fe9f6ebe295c66a2dc2b317e3cb7bbc73a70fabbf3"
SCRIPT = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
from lanewright.image.tar import Member, pack
members = eval(sys.stdin.read())
sys.stdout.write(hashlib.sha256(pack(members)).hexdigest())
"""
TOOLS = str(Path(__file__).parents[2] / "tools")


def test_the_bytes_are_the_same_everywhere() -> None:
    assert hashlib.sha256(pack(MEMBERS)).hexdigest() == GOLDEN


def test_neither_clock_nor_user_nor_umask_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 5.0)
    monkeypatch.setattr("os.getuid", lambda: 1234)
    before = os.umask(0o077)
    try:
        assert hashlib.sha256(pack(MEMBERS)).hexdigest() == GOLDEN
    finally:
        os.umask(before)


def python(version: str) -> str:
    """Another Python on this machine; skips where there is none."""
    found = shutil.which(f"python{version}")
    if found and not subprocess.run([found, "-V"], capture_output=True, check=False).returncode:
        return found
    pytest.skip(f"no python{version} here")


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize("language", ["C", "C.UTF-8"])
def test_another_python_or_locale_gives_the_same_bytes(
    monkeypatch: pytest.MonkeyPatch, version: str, language: str
) -> None:
    # Where pyenv offers several versions, this is how it is told which to start.
    monkeypatch.setenv("PYENV_VERSION", version)
    ended = subprocess.run(
        [python(version), "-I", "-X", "utf8=0", "-c", SCRIPT, TOOLS],
        input=ascii(MEMBERS).encode(),
        env={**os.environ, "LC_ALL": language, "PYTHONCOERCECLOCALE": "0"},
        capture_output=True,
        check=False,
    )
    assert ended.stdout.decode() == GOLDEN, ended.stderr.decode()


def test_what_was_packed_is_unpacked() -> None:
    found = unpack(pack(MEMBERS))
    assert [member for _, member in found] == MEMBERS
    for info, _ in found:
        assert (info.uid, info.gid, info.uname, info.gname) == (0, 0, "", "")
        assert info.mtime == 946684800


def test_the_systems_tar_reads_it(tmp_path: Path) -> None:
    tar = shutil.which("tar") or pytest.skip("no tar here")
    (tmp_path / "layer.tar").write_bytes(pack(MEMBERS))
    (tmp_path / "out").mkdir()
    subprocess.run([tar, "-xf", tmp_path / "layer.tar", "-C", tmp_path / "out"], check=True)
    for member in MEMBERS:
        name = os.fsdecode(member.path.encode("utf-8", "surrogateescape"))
        path = tmp_path / "out" / name
        if member.kind == FILE:
            assert path.read_bytes() == member.content
            assert path.stat().st_mode & 0o777 == member.mode
        elif member.kind == LINK:
            assert os.fsencode(path.readlink()) == member.content
        else:
            assert path.is_dir()


def test_equal_content_of_another_order_is_another_archive() -> None:
    assert pack(MEMBERS) != pack(reversed(MEMBERS))


def test_nothing_is_a_whole_archive_too() -> None:
    assert pack([]) == bytes(tarfile.RECORDSIZE)
    assert unpack(pack([])) == []


@pytest.mark.parametrize(
    "content", [b"x" * 10240, pack([Member("x", FILE, 0o644, b"y" * 2000)])[:1000], b""]
)
def test_what_is_no_archive_is_an_error(content: bytes) -> None:
    with pytest.raises(tarfile.TarError):
        unpack(content)
