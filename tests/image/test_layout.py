"""The layout on disk: whole or not at all, and the same wherever it is made."""

import os
import random
import shutil
import stat
import subprocess
import time
from pathlib import Path

import msgspec
import pytest

from lanewright.errors import LanewrightError, MismatchError
from lanewright.image.check import differences
from lanewright.image.layout import lay_out, layout_folder
from lanewright.queue.lock import Lock, layer_of, sealed
from tests.conftest import World
from tests.killing import kills, restoring
from tests.process import COMMAND, finish, start


def content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_what_is_there(imaged: World, lock: Lock, layout: Path) -> None:
    found = content(layout)
    layer = layer_of(lock)
    blob = found[f"blobs/sha256/{layer.digest.removeprefix('sha256:')}"]
    assert len(blob) == layer.size
    assert len(found) == 2 + 6
    assert [path.name for path in imaged.places.layouts.iterdir()] == [layout.name]
    assert stat.S_IMODE(layout.stat().st_mode) == 0o755


BUILD = 'umask {umask}; "$@" build && "$@" image'


def test_umask_times_and_order_of_files_do_not_count(imaged: World, tmp_path: Path) -> None:
    found = []
    for number, umask in enumerate(["077", "000"]):
        root = tmp_path / f"project{number}"
        shutil.copytree(imaged.root, root)
        files = sorted(path for path in root.rglob("*") if path.is_file())
        for age, path in enumerate(reversed(files) if number else files):
            before = path.read_bytes()
            path.unlink()
            path.write_bytes(before)
            path.chmod(0o666 if number else 0o600)
            os.utime(path, (age * 1000, age * 1000 + number * 1_000_000))
        store = tmp_path / f"store{number}"
        shutil.copytree(imaged.places.store, store)
        subprocess.run(
            ["sh", "-c", BUILD.format(umask=umask), "-", *COMMAND, "-C", str(root)],
            env={**os.environ, "LANEWRIGHT_STORE": str(store), "TZ": f"UTC-{number * 9}"},
            check=True,
            capture_output=True,
        )
        found.append(((root / "series/sample.lock").read_bytes(), content(store / "layouts")))
    assert found[0] == found[1]
    assert len(found[0][1]) == 8


def test_a_tree_that_gives_another_layer_than_the_lock_says(imaged: World, lock: Lock) -> None:
    other = msgspec.structs.replace(layer_of(lock), digest=f"sha256:{'0' * 64}")
    wrong = sealed(msgspec.structs.replace(lock, layer=other))
    folder = layout_folder(imaged.places, wrong)
    with pytest.raises(MismatchError, match=r"the lock says layer sha256:0000.* its tree gives"):
        lay_out(imaged.repository, wrong, folder)
    assert list(imaged.places.layouts.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(imaged: World, lock: Lock) -> None:
    imaged.places.layouts.write_text("in the way")
    with pytest.raises(LanewrightError, match=r"cannot write the image .*sample-"):
        lay_out(imaged.repository, lock, layout_folder(imaged.places, lock))


def test_two_runs_at_once_make_one(imaged: World, lock: Lock) -> None:
    running = [start(imaged.root, "image") for _ in range(3)]
    ended = [finish(process) for process in running]
    assert [code for code, _, _ in ended] == [0, 0, 0], ended
    folder = layout_folder(imaged.places, lock)
    assert {out for _, out, _ in ended} == {f"{layer_of(lock).digest} {folder}\n"}
    assert list(imaged.places.layouts.iterdir()) == [folder]
    assert differences(imaged.repository, lock, folder) == []


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.engine_full)])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_run_killed_at_any_step_leaves_nothing_half(
    imaged: World, lock: Lock, moment: str, every: int
) -> None:
    folder = layout_folder(imaged.places, lock)
    undone = restoring(imaged.places.store, imaged.root)
    for killed in kills(["image"], imaged.root, {}, undone, moments=[moment], every=every):
        assert not folder.exists() or differences(imaged.repository, lock, folder) == [], killed
        assert finish(start(imaged.root, "image"))[0] == 0
        assert list(imaged.places.layouts.iterdir()) == [folder]


def has_begun(imaged: World) -> bool:
    try:
        return any(imaged.places.store.glob("layouts/*/*"))
    except FileNotFoundError:  # it was there, and is in its place by now
        return True


@pytest.mark.parametrize("seed", range(3))
def test_a_run_killed_at_any_moment_is_made_by_the_next(
    imaged: World, lock: Lock, seed: int
) -> None:
    folder = layout_folder(imaged.places, lock)
    process = start(imaged.root, "image")
    while not has_begun(imaged) and process.poll() is None:
        time.sleep(0.0005)
    time.sleep(random.Random(seed).uniform(0, 0.003))  # noqa: S311 - no secret
    process.kill()
    finish(process)
    assert not folder.exists() or differences(imaged.repository, lock, folder) == []
    assert finish(start(imaged.root, "image"))[0] == 0
    assert list(imaged.places.layouts.iterdir()) == [folder]
    assert differences(imaged.repository, lock, folder) == []
