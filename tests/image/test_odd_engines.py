"""Engines that answer with what nobody expects, or not at all; programs are in their place."""

import os
import subprocess
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError, MismatchError
from lanewright.image.container import engine as engine_module
from lanewright.image.container.boxed import clear_dead, own_name
from lanewright.image.container.engine import Engine, engine_here
from lanewright.image.container.files import require_same_files
from lanewright.image.container.loaded import layers_of
from lanewright.queue.lock import Lock
from lanewright.store.scratch import HOST

NO_TEXT = r"printf '\377\376\n'"


def program(folder: Path, script: str, name: str = "docker") -> str:
    place = folder / name
    place.write_text(f"#!/bin/sh\n{script}\n")
    place.chmod(0o755)
    return str(place)


def test_an_engine_whose_talk_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    program(tmp_path, NO_TEXT)
    assert engine_here("docker").name == "docker"
    program(tmp_path, f"{NO_TEXT}; exit 1")
    with pytest.raises(LanewrightError, match="docker does not answer: \ufffd\ufffd"):
        engine_here("docker")


def test_an_engine_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(engine_module, "ANSWER_SECONDS", 0.2)
    program(tmp_path, "exec sleep 30")
    with pytest.raises(LanewrightError, match=r"`docker info` gave no answer within 0\.2 s"):
        engine_here("docker")


def test_an_engine_that_cannot_be_run(tmp_path: Path) -> None:
    (tmp_path / "docker").write_bytes(b"\x7fELF")
    (tmp_path / "docker").chmod(0o755)
    with pytest.raises(LanewrightError, match="`docker image inspect it` cannot be run"):
        Engine("docker", str(tmp_path / "docker")).has("it")


@pytest.mark.parametrize("said", ["echo '{}'", "echo '[1]'", "echo no", NO_TEXT, ":"])
def test_layers_that_are_none(tmp_path: Path, said: str) -> None:
    docker = program(tmp_path, said)
    with pytest.raises(LanewrightError, match="docker tells no layers of it:1") as error:
        layers_of(docker, "it:1")
    assert f"{docker} image inspect" in str(error.value.hint)


def test_no_layers(tmp_path: Path) -> None:
    assert layers_of(program(tmp_path, "echo null"), "it:1") == []
    assert layers_of(program(tmp_path, f"{NO_TEXT}; exit 1"), "it:1") == []


def test_names_that_are_no_text(tmp_path: Path) -> None:
    clear_dead(Engine("docker", program(tmp_path, NO_TEXT)))


@pytest.mark.parametrize("printed", ["[1]", "no", "\ufffd", '{"a": 1}'])
def test_files_that_are_told_otherwise(lock: Lock, printed: str) -> None:
    with pytest.raises(MismatchError, match="does not say what files it sees"):
        require_same_files(lock, {"a": "b"}, printed)


def test_only_what_a_dead_process_of_this_machine_left_is_removed(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    own = own_name("server")
    assert own.endswith(f"-{HOST}-{os.getpid()}")
    dead = f"lanewright-smoke-server-{HOST}-{ended.pid}"
    arabic = "".join(chr(0x660 + int(digit)) for digit in str(ended.pid))
    others = [
        f"lanewright-smoke-server-elsewhere-{ended.pid}",
        f"lanewright-smoke-server-{ended.pid}",
        f"lanewright-smoke-server-{HOST}-{arabic}",
        f"lanewright-smoke-server-{HOST}-1x",
        f"another-lanewright-smoke-server-{HOST}-{ended.pid}",
    ]
    (tmp_path / "names").write_text("\n".join([own, dead, *others, ""]))
    listing = f"cat {tmp_path}/names"
    docker = program(tmp_path, f'[ "$1" = ps ] && {listing} || echo "$@" >> {tmp_path}/asked')
    clear_dead(Engine("docker", docker))
    assert (tmp_path / "asked").read_text() == f"rm --force {dead}\n"
