"""A disk that is full, or cannot be written at all: a clear error, nothing lost, and on from there.

Each runs in a mount namespace of its own, which ends with it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lanewright
from tests.queue.scenarios import not_built
from tests.upstream.fixtures import Carrying
from tests.upstream.whole import files_of, leavings, require_whole_lane, work_folder

POOL, ROWS = "96177", "97943"
TO = ("rebase", "--to", "0.32.0")
ALONE = ["unshare", "--mount", "--propagation", "private"]
if os.geteuid():
    ALONE.append("--map-root-user")
FULL = """\
set -e
disk=$1 left=$2; shift 2
mount -t tmpfs -o size=16m none "$disk"
cp -a "$disk.kept/." "$disk"
head -c 16m /dev/zero >"$disk/filled" 2>/dev/null || true
truncate -s "-${left}K" "$disk/filled"
"$@" || code=$?
rm "$disk/filled"
echo "ended with ${code:-0}" >&2
cp -a "$disk" "$disk.after"
"""
EACH = """\
import sys
from lanewright.__main__ import run
_, root, *commands = sys.argv
print([int(run(["-C", root, *command.split()])) for command in commands])
"""
READ_ONLY = """\
set -e
mount --bind "$1" "$1"
mount -o remount,ro,bind "$1"
shift
"$@"
"""


def alone(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ALONE, "sh", "-c", script, "sh", *arguments],
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(Path(lanewright.__file__).parents[1])},
    )


@pytest.fixture(scope="module")
def _mounts(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("mounted")
    if alone('mount -t tmpfs -o size=4k none "$1"', str(folder)).returncode:
        pytest.skip("this user may not mount a disk of its own")


def filled(carrying: Carrying, disk: Path, left: int, *command: str) -> tuple[int, str]:
    """Run a command where a folder is on a disk that has ``left`` KiB; keep what it leaves."""
    kept, after = disk.with_name(f"{disk.name}.kept"), disk.with_name(f"{disk.name}.after")
    shutil.rmtree(after, ignore_errors=True)
    shutil.copytree(disk, kept, symlinks=True)
    argv = (sys.executable, "-m", "lanewright", "-C", str(carrying.root), *command)
    talk = alone(FULL, str(disk), str(left), *argv).stderr
    shutil.rmtree(disk)
    shutil.rmtree(kept)
    after.rename(disk)
    *told, last = talk.splitlines()
    return int(last.removeprefix("ended with ")), "\n".join(told)


def prepare(carrying: Carrying, what: str) -> tuple[str, ...]:
    """Bring the lane where a command has something to write; give the command."""
    if what == "build":
        not_built(carrying)
        return ("build",)
    assert carrying.run("add", ROWS) == 0
    if what == "resolve --done":
        assert carrying.run("add", POOL) == 0
        assert carrying.run(*TO) == 3
        carrying.unmark(POOL)
        return ("resolve", POOL, "--done")
    return TO


MOST = 4
FEW = [("rebase", "project", 4), ("rebase", "store", 4)]
MANY = [
    pytest.param(what, where, left, marks=pytest.mark.engine_full)
    for what in ("rebase", "build", "resolve --done")
    for where in ("project", "store")
    for left in (0, 4, 8, 12, 16, 24, 32)
    if (what, where, left) not in FEW
]


@pytest.mark.usefixtures("_mounts")
@pytest.mark.parametrize(("what", "where", "left"), [*FEW, *MANY])
def test_a_full_disk_is_told_and_loses_nothing(
    carrying: Carrying, what: str, where: str, left: int
) -> None:
    command = prepare(carrying, what)
    before, edits = files_of(carrying), work_folder(carrying)
    disk = carrying.root if where == "project" else carrying.places.store
    code, talk = filled(carrying, disk, left, *command)
    assert "Traceback" not in talk
    if code == 0 and (left > MOST or (what, where) == ("resolve --done", "store")):
        return  # there was room, or no need of it
    assert code == 1
    assert "No space left on device" in talk
    assert work_folder(carrying) == edits
    assert "is made again: rm -r" not in talk
    if "cannot finish" not in talk:
        assert files_of(carrying) == before
    assert carrying.run("list") == 0
    assert carrying.run(*command) == 0
    assert leavings(carrying) == []
    if what != "resolve --done":
        require_whole_lane(carrying, check=0)


@pytest.mark.usefixtures("_mounts")
def test_reading_works_in_a_project_that_cannot_be_written(carrying: Carrying) -> None:
    assert carrying.run("add", ROWS) == 0
    python = (sys.executable, "-c", EACH, str(carrying.root))
    reading = [
        "list", "status", "report", "show", "verify", "build --check", "fetch",
        "rebase --check --to 0.31.0", f"export --out {carrying.root.parent / 'export'}",
    ]  # fmt: skip
    ended = alone(READ_ONLY, str(carrying.root), *python, *reading, " ".join(TO))
    assert ended.stdout.splitlines()[-1] == str([0] * len(reading) + [1])
    assert "Traceback" not in ended.stderr
    assert "Read-only file system" in ended.stderr
