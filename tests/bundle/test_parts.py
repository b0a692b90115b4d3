"""A folder that anybody may have written to is read within its bounds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lanewright.bundle import parts as module
from lanewright.bundle.parts import Budget, LeftOut, Part, parts_of


def read(folder: Path) -> tuple[dict[str, Part], dict[str, str]]:
    found = [*parts_of(folder, "run", Budget())]
    parts = {each.name: each for each in found if isinstance(each, Part)}
    return parts, {each.name: each.why for each in found if isinstance(each, LeftOut)}


def test_no_link_is_followed(tmp_path: Path) -> None:
    folder, secret = tmp_path / "run", tmp_path / "secret"
    folder.mkdir()
    secret.mkdir()
    (secret / "a.log").write_text("secret")
    (folder / "a.log").symlink_to(secret / "a.log")
    (folder / "equality").symlink_to(secret)
    (folder / "b.log").write_text("ours")
    parts, left = read(folder)
    assert {name: part.content for name, part in parts.items()} == {"run/b.log": b"ours"}
    assert left == {"run/a.log": "it is a link", "run/equality": "it is a link"}
    (tmp_path / "link").symlink_to(folder)
    assert read(tmp_path / "link")[0] == {}


def test_odd_files_are_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.log")
    (tmp_path / "core").write_bytes(b"\x7fELF")
    (tmp_path / "a\n::error::b.log").touch()
    (tmp_path / ".hidden.log").touch()
    os.close(os.open(os.fsencode(tmp_path) + b"/\xff.log", os.O_CREAT))
    deep = tmp_path / "1/2/3/4/5"
    deep.mkdir(parents=True)
    (deep / "a.log").touch()
    parts, left = read(tmp_path)
    odd = "no run and no night calls a file so"
    assert parts == {}
    assert left == {
        "run/pipe.log": "it is no regular file",
        "run/core": "it is none of a run's or a night's files",
        "run/a\n::error::b.log": odd,
        "run/.hidden.log": odd,
        "run/?.log": odd,
        "run/1/2/3/4/5": "it lies too deep",
    }


def test_a_log_of_gigabytes_loses_its_middle(tmp_path: Path) -> None:
    size = 3 * 2**30
    with (tmp_path / "server.log").open("wb") as stream:
        stream.write(b"first line\n" + b"x" * 100 + b"\n")
        stream.seek(size - 20)
        stream.write(b"\nbefore\nthe last one")
    parts, _ = read(tmp_path)
    part = parts["run/server.log"]
    assert len(part.content) < module.MOST_TEXT + 200
    lines = part.content.split(b"\n")
    assert lines[0] == b"first line"
    assert lines[-2:] == [b"before", b"the last one"]
    told = b"[... lanewright bundle: %d bytes are left out here ...]" % part.cut
    kept = part.content.replace(told + b"\n", b"")
    assert part.cut == size - len(kept)
    assert lines[2] == told


def test_data_is_whole_or_not_there(tmp_path: Path) -> None:
    with (tmp_path / "a.json").open("wb") as stream:
        stream.truncate(module.MOST_DATA + 1)
    parts, left = read(tmp_path)
    assert parts == {}
    assert left == {
        "run/a.json": f"it has {module.MOST_DATA + 1} bytes, and {module.MOST_DATA} are the most"
    }


def test_no_bundle_grows_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 10)
    for name in "abc":
        (tmp_path / f"{name}.log").write_text("1234")
    parts, left = read(tmp_path)
    assert list(parts) == ["run/a.log", "run/b.log"]
    assert left == {"run/c.log": "the bundle has 10 bytes, or 2000 files, already"}


def test_a_file_that_grows_is_read_as_far_as_it_was(tmp_path: Path) -> None:
    """A run that is under way writes meanwhile."""
    file = tmp_path / "server.log"
    script = f"with open({str(file)!r}, 'ab', 0) as log:\n while True: log.write(b'line\\n' * 99)"
    file.touch()
    with subprocess.Popen([sys.executable, "-c", script]) as writing:
        try:
            for _ in range(20):
                parts, _ = read(tmp_path)
                content = parts["run/server.log"].content
                assert content.replace(b"line\n", b"").count(b"\n") <= 1
                assert len(content) <= module.MOST_TEXT + 200
        finally:
            writing.kill()
