"""``lanewright residency map`` hands a usage map to a worker."""

import json
import os
from pathlib import Path

import pytest

from lanewright.serve.usage import write_usage
from tests.conftest import World

Capture = pytest.CaptureFixture[str]
COUNTED = {"a": [3, 0, 1], "b\x1b": [0, 0, 0]}
FILE = {"schema": 1, "model": "hash", "layers": COUNTED}


@pytest.fixture
def usage(tmp_path: Path) -> Path:
    worker = {
        "layers": [*COUNTED],
        "picks_per_token": 2,
        "tokens": 2,
        "counts": [*COUNTED.values()],
    }
    written = write_usage(tmp_path / "usage.parquet", [worker], model="hash")
    assert written
    return written


def test_the_file_is_written_and_named(
    world: World, usage: Path, tmp_path: Path, capfd: Capture
) -> None:
    out = tmp_path / "out" / "usage.json"
    out.parent.mkdir()
    assert world.run("residency", "map", str(usage), "--out", str(out)) == 0
    assert capfd.readouterr().out == f"{out}\n"
    assert json.loads(out.read_text(encoding="ascii")) == FILE
    assert [path.name for path in out.parent.iterdir()] == ["usage.json"]


def test_without_a_file_its_content_is_told(world: World, usage: Path, capfd: Capture) -> None:
    assert world.run("residency", "map", str(usage)) == 0
    assert capfd.readouterr().out.splitlines() == [
        "a: 4 picks of 3 experts, 75.0% by expert 0; 1 never picked",
        "'b\\x1b': 0 picks of 3 experts, none yet; 3 never picked",
    ]
    assert world.run("residency", "map", str(usage), "--json") == 0
    assert json.loads(capfd.readouterr().out) == FILE


def test_a_folder_that_cannot_be_written_is_named(
    world: World, usage: Path, tmp_path: Path, capfd: Capture
) -> None:
    out = tmp_path / "absent" / "usage.json"
    assert world.run("residency", "map", str(usage), "--out", str(out)) == 1
    captured = capfd.readouterr()
    assert f"cannot write {out}: No such file or directory" in captured.err
    assert captured.out == ""


def test_a_map_that_is_none_leaves_the_old_file(
    world: World, usage: Path, tmp_path: Path, capfd: Capture
) -> None:
    out = tmp_path / "usage.json"
    out.write_text("old")
    usage.write_bytes(usage.read_bytes()[:-1])
    assert world.run("residency", "map", str(usage), "--out", str(out)) == 1
    captured = capfd.readouterr()
    assert f"{usage} is no usage map: it cannot be read as Parquet" in captured.err
    assert "next: a boot with moe_usage_counter writes one" in captured.err
    assert out.read_text() == "old"


@pytest.mark.parametrize("arguments", [[], ["map"], ["absent"], ["map", "a", "b"]])
def test_what_cannot_be_read_ends_with_2(
    world: World, capfd: Capture, arguments: list[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        world.run("residency", *arguments)
    assert ended.value.code == 2
    assert "usage: lanewright" in capfd.readouterr().err


def test_a_pipe_is_not_replaced(world: World, usage: Path, tmp_path: Path, capfd: Capture) -> None:
    out = tmp_path / "pipe"
    os.mkfifo(out)
    assert world.run("residency", "map", str(usage), "--out", str(out)) == 1
    assert f"cannot write {out}: it is no regular file" in capfd.readouterr().err
    assert out.is_fifo()
