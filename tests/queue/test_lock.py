"""The lock file: damage is named, and replacing it is one step."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lanewright.errors import LanewrightError
from lanewright.queue.build import build
from lanewright.queue.lock import encode, read_lock
from tests.conftest import World


def test_none_where_there_is_none_yet(tmp_path: Path) -> None:
    assert read_lock(tmp_path / "absent.lock") is None


def test_written_and_read_back(world: World) -> None:
    lock = build(world.project, world.places, "sample").lock
    assert read_lock(world.lock) == lock
    assert world.lock.read_bytes() == encode(lock)
    assert world.lock.read_bytes().endswith(b"}\n")
    assert stat.S_IMODE(world.lock.stat().st_mode) == 0o644


# The lock of the lane that newcomers get: a real one, whose lane is named otherwise.
LOCK = Path(__file__).parents[2] / "series" / "cpu-tiny.lock"


def drop(data: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in keys}


DAMAGE: dict[str, tuple[Callable[[str, Any], str], str]] = {
    "truncated": (lambda text, _: text[: len(text) // 2], "truncated|malformed|end of"),
    "empty": (lambda _, __: "", "truncated|empty"),
    "no JSON": (lambda _, __: "<<<<<<< ours\n", "malformed|invalid"),
    "conflicted": (lambda text, _: text.replace('  "lane"', '=======\n  "lane"'), "malformed|inv"),
    "no object": (lambda _, __: "[]", "Expected `object`, got `array`"),
    "missing key": (
        lambda _, data: json.dumps(drop(data, "tree")),
        "missing required field `tree`",
    ),
    "deep key": (
        lambda _, data: json.dumps({**data, "pin": drop(data["pin"], "commit")}),
        r"missing required field `commit` - at `\$\.pin`",
    ),
    "newer schema": (lambda _, data: json.dumps({**data, "schema": 2}), r"2 - at `\$\.schema`"),
    "wrong type": (lambda _, data: json.dumps({**data, "entries": 3}), r"at `\$\.entries`"),
    "no UTF-8": (lambda text, _: text.replace("cpu-tiny", "\udce9"), "UTF-8|utf-8"),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_damage_is_named_with_its_file(world: World, how: str) -> None:
    text = LOCK.read_text()
    damage, message = DAMAGE[how]
    world.lock.write_bytes(os.fsencode(damage(text, json.loads(text))))
    with pytest.raises(LanewrightError, match=rf"series/sample\.lock is damaged: .*({message})"):
        read_lock(world.lock)


@pytest.mark.parametrize("command", ["build", "verify", "show", "status"])
def test_every_command_names_a_damaged_lock_and_leaves_it_alone(
    world: World, capfd: pytest.CaptureFixture[str], command: str
) -> None:
    before = LOCK.read_bytes()[:-100]
    world.lock.write_bytes(before)
    assert world.run(command) == 1
    captured = capfd.readouterr()
    assert "series/sample.lock is damaged" in captured.err
    assert "lanewright build sample" in captured.err
    assert captured.out == ""
    assert world.lock.read_bytes() == before


def test_a_lock_that_is_a_folder_is_said(world: World) -> None:
    world.lock.mkdir()
    with pytest.raises(LanewrightError, match=r"cannot read .*sample\.lock"):
        read_lock(world.lock)


def test_replacing_keeps_a_reader_of_the_old_one_whole(world: World) -> None:
    lock = build(world.project, world.places, "sample").lock
    before = world.lock.read_bytes()
    with world.lock.open("rb") as reader:
        head = reader.read(10)
        world.lock.write_bytes(encode(lock))
        assert head + reader.read() == before
    left = {path.name for path in world.lock.parent.iterdir()}
    assert left == {"sample.lock", "sample.toml"}


def test_a_write_that_fails_leaves_the_old_one_and_no_scratch(world: World) -> None:
    lock = build(world.project, world.places, "sample").lock
    world.lock.unlink()
    world.lock.mkdir()
    with pytest.raises(IsADirectoryError):
        world.lock.write_bytes(encode(lock))
    left = {path.name for path in world.lock.parent.iterdir()}
    assert left == {"sample.lock", "sample.toml"}


def test_hunks_and_defaults_are_written_short(world: World) -> None:
    build(world.project, world.places, "sample")
    data = json.loads(world.lock.read_text())
    assert list(data) == ["schema", "lane", "inputs", "pin", "entries", "tree", "seal"]
    assert "cause" not in data["entries"][0]["hunks"][2]
    assert "hunks" not in data["entries"][1]


def test_another_lanes_lock_is_refused(world: World) -> None:
    assert world.run("build") == 0
    other = world.lock.with_name("other.lock")
    other.write_bytes(world.lock.read_bytes())
    with pytest.raises(LanewrightError, match=r"other\.lock is damaged: .*lane 'sample'"):
        read_lock(other)
