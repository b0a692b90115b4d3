"""Every wheel of a base in one folder of the store, and the list that it is installed by."""

import hashlib
import platform
import re
import sys
from functools import partial
from pathlib import Path

from lanewright.errors import LanewrightError, MismatchError
from lanewright.image.base.alias import alias_version, make_alias
from lanewright.image.base.recipe import Recipe, sha256_of
from lanewright.image.base.requirements import HASH, line
from lanewright.image.opened.kept import link
from lanewright.places import Places
from lanewright.serve.base import get_torch, run
from lanewright.store.locking import held
from lanewright.store.pip import NO_ROOM, no_room
from lanewright.store.release import Release, wheel_of
from lanewright.store.scratch import making, settle
from lanewright.terminal import quoted, say, stage

LIST = "requirements.txt"
PIP = "pip.zip"
# Of the Python and the C library in the image, whatever this machine has.
PYTHON = ("--python-version", "3.11", "--implementation", "cp", "--abi", "cp311")
NEWEST_GLIBC_MINOR, OLDEST_GLIBC_MINOR = 36, 5
OTHER_HASH = re.compile(r"DO NOT MATCH THE HASHES")


def wheelhouse(places: Places, recipe: Recipe) -> Path:
    """The folder with a base's wheels, filled once.

    Returns:
        The folder. ``requirements.txt`` in it has each wheel with its hash, torch's and vLLM's too;
        ``pip.zip`` is what installs them.

    Raises:
        MismatchError: A wheel has another hash than it should.
        LanewrightError: pip does not get one, or there is no room.
    """
    folder = places.wheelhouse / _key(recipe)
    with held(folder.with_suffix(".lock"), f"downloads wheels into {folder.name}"):
        if folder.exists():
            _require_whole(folder)
            say(f"  {len(list(folder.glob('*.whl')))} wheels are in the store already")
            return folder
        with making(places.wheelhouse) as scratch, stage("wheels of the base"):
            _fill(places, recipe, scratch)
            settle(scratch, folder)
    return folder


def _key(recipe: Recipe) -> str:
    parts = (recipe.requirements, recipe.torch, recipe.digest, recipe.pip, alias_version(recipe))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _fill(places: Places, recipe: Recipe, scratch: Path) -> None:
    locked = scratch / "locked.txt"
    locked.write_text(recipe.requirements + recipe.pip)
    failed = _download(scratch, "--require-hashes", "--requirement", str(locked))
    if failed is not None:
        kind = MismatchError if OTHER_HASH.search(failed) else LanewrightError
        raise kind(
            f"pip got not all wheels of the base:\n{failed}",
            hint=NO_ROOM
            if no_room([failed])
            else "see which package index pip asks (`pip config list`), and whether it is reached",
        )
    locked.unlink()
    get_torch(partial(_download, scratch))
    vllm = wheel_of(places, Release(recipe.distribution, recipe.version))
    link(vllm, scratch / vllm.name)
    _one(scratch, "pip-*.whl").rename(scratch / PIP)
    torch, alias = _one(scratch, "torch-*.whl"), make_alias(recipe, scratch)
    (scratch / LIST).write_text(
        recipe.requirements
        + line("torch", recipe.torch, sha256_of(torch))
        + line(recipe.distribution, recipe.version, recipe.digest)
        + line("vllm", alias_version(recipe), sha256_of(alias))
    )
    _require_whole(scratch)


def _download(folder: Path, *arguments: str) -> str | None:
    machine = platform.machine()
    minors = range(NEWEST_GLIBC_MINOR, OLDEST_GLIBC_MINOR - 1, -1)
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in minors]
    platforms += [f"manylinux{old}_{machine}" for old in ("2014", "2010", "1")]
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += [*PYTHON, *(word for each in platforms for word in ("--platform", each))]
    return run([*command, "--dest", str(folder), *arguments])


def torch_hash(folder: Path) -> str:
    """Digest of a wheelhouse's wheel of torch, of which no list but its own has one."""
    (torch,) = [
        each for each in (folder / LIST).read_text().splitlines() if each.startswith("torch==")
    ]
    (digest,) = HASH.findall(torch)
    return str(digest)


def _one(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def _require_whole(folder: Path) -> None:
    wanted = set(HASH.findall((folder / LIST).read_text()))
    for wheel in sorted(folder.glob("*.whl")):
        if sha256_of(wheel) not in wanted:
            raise MismatchError(
                f"{wheel} has not the hash that it should have",
                hint=f"it is made again: rm -r {quoted(folder)}",
            )


def size_of(folder: Path) -> int:
    """What a folder's files take, in bytes."""
    return sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
