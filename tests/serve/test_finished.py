"""What an arm leaves is whole, noted behind all of it, and nothing of it counts before."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lanewright.serve.engines import SCRIPT

# Kills its own process at the step that is named, the first time or the second.
KILLED = """\
import os, signal, sys
from pathlib import Path
import finished
step, number = sys.argv[1], int(sys.argv[2])
owner = os if step == "fsync" else Path
real, calls = getattr(owner, step), []
def killing(*arguments):
    calls.append(arguments)
    if len(calls) == number:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments)
setattr(owner, step, killing)
"""
WRITING = 'finished.write_whole(Path("result.json"), b"new" * 1000)\n'
NOTING = """\
arm = {"result": "result.json", "keeps": None}
arm["note"] = {"file": "arm.finished.json", "key": "k", "run": "r"}
finished.note(arm, "m")
"""


def killed(folder: Path, code: str, step: str, number: int) -> None:
    command = [sys.executable, "-c", KILLED + code, step, str(number)]
    ended = subprocess.run(command, cwd=folder, env={"PYTHONPATH": str(SCRIPT.parent)}, check=False)
    assert ended.returncode == -9


def run(folder: Path, code: str) -> None:
    command = [sys.executable, "-c", f"from pathlib import Path\nimport finished\n{code}"]
    subprocess.run(command, cwd=folder, env={"PYTHONPATH": str(SCRIPT.parent)}, check=True)


@pytest.mark.parametrize("old", [b"old", None])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_file_that_is_being_written_is_the_old_one_or_none(
    tmp_path: Path, step: str, old: bytes | None
) -> None:
    result = tmp_path / "result.json"
    if old:
        result.write_bytes(old)
    killed(tmp_path, WRITING, step, 1)
    assert (result.read_bytes() if result.exists() else None) == old
    run(tmp_path, WRITING)
    assert result.read_bytes() == b"new" * 1000
    assert [each.name for each in tmp_path.iterdir()] == ["result.json"]


def test_a_file_is_on_disk_before_it_has_its_name(tmp_path: Path) -> None:
    killed(tmp_path, WRITING, "fsync", 2)
    assert (tmp_path / "result.json").read_bytes() == b"new" * 1000


def test_an_arm_is_noted_when_all_that_it_left_is_there(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text("{}")
    killed(tmp_path, NOTING, "replace", 1)
    assert not (tmp_path / "arm.finished.json").exists()
    run(tmp_path, NOTING)
    note = json.loads((tmp_path / "arm.finished.json").read_text())
    assert [*note] == ["key", "run", "finished", "boot_map", "files"]
    assert [*note["files"]] == ["result.json"]
