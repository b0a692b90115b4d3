"""Real vLLM: copies of this project's own lane, wheels and environments from the user's store."""

import dataclasses
import functools
import json
import os
import re
import shutil
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lanewright.__main__ import run
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.build import build
from lanewright.serve.lane import lay_lane
from lanewright.serve.served import served_model
from tests.engine.kernels import WHERE, failures_of
from tests.engine.lane_python import Laid

ROOT = Path(__file__).parents[2]
PIN = "0.32.0"
# Files of few tests that take minutes: they begin first, so that no process is left with one at the end.
LONGEST = (
    "test_two_bank",
    "test_equality",
    "test_cpu_kernel_maps",
    "test_rebased",
    "test_load_peak",
)
CARRIED = ("upstream.toml", "series", "patches", "overlay", "environments")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; ``--no-loadscope-reorder`` keeps that order."""
    items.sort(key=lambda each: each.path.stem not in LONGEST)


ALL_CORES = frozenset(os.sched_getaffinity(0))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """While a test boots engines, keep this process of the tests to its share of the cores.

    Engines on the same ones wait for each other in spinning loops.
    """
    mine = sorted(ALL_CORES)
    worker = re.fullmatch(r"gw(\d+)", os.environ.get("PYTEST_XDIST_WORKER", ""))
    share = len(mine) // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    boots = any(item.iter_markers("engine")) or any(item.iter_markers("engine_full"))
    if worker and share and boots:
        first = int(worker[1]) * share
        os.sched_setaffinity(0, mine[first : first + share])
    try:
        return (yield)
    finally:
        os.sched_setaffinity(0, ALL_CORES)


@pytest.fixture
def cores() -> frozenset[int]:
    """All that there were before the test was kept to its share."""
    return ALL_CORES


@dataclass(frozen=True)
class Lane:
    """A copy of the project that a test may edit, with records of its own."""

    root: Path
    name: str = "cpu-tiny"

    @property
    def series(self) -> Path:
        return self.root / "series" / f"{self.name}.toml"

    def run(self, *arguments: str) -> int:
        """Run a command line in the copy; give back its exit code."""
        return run(["-C", str(self.root), *arguments])

    def pin(self, version: str) -> None:
        """Move the lane's pin."""
        self.replace(f"release:{PIN}", f"release:{version}")

    def replace(self, old: str, new: str) -> None:
        """Edit the series; fails where there is nothing to change."""
        text = self.series.read_text()
        assert old in text
        self.series.write_text(text.replace(old, new))

    def records(self) -> list[dict[str, Any]]:
        """Every record kept so far, oldest first."""
        files = sorted(Places.of_user().state.glob(f"runs/{self.name}/*/record.json"))
        return [json.loads(file.read_text()) for file in files]


@pytest.fixture
def lane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lane:
    """The cpu-tiny lane, in a copy of this project."""
    monkeypatch.setenv("LANEWRIGHT_STATE", str(tmp_path / "state"))
    return copied(tmp_path / "project")


@pytest.fixture(scope="session")
def laid(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Laid]:
    """A lane on a release, laid out once for all tests that boot engines themselves."""

    @functools.cache
    def on(version: str, name: str = "cpu-tiny") -> Laid:
        copy = dataclasses.replace(copied(tmp_path_factory.mktemp("laid") / "project"), name=name)
        if version != PIN:
            copy.pin(version)
        project, places = Project.find(copy.root), Places.of_user()
        build(project, places, name)
        lane = lay_lane(project, places, name)
        return Laid(lane, served_model(places, lane.env, lane.model).folder)

    return on


@pytest.fixture(scope="module")
def failures(
    request: pytest.FixtureRequest,
    laid: Callable[[str], Laid],
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, str | None]:
    """By check of a module's ``SCRIPT``, why it failed; run by the lane's Python."""
    script: str = request.module.SCRIPT
    return laid("0.32.0").failures(script, folder=tmp_path_factory.mktemp("checks"))


def copied(root: Path) -> Lane:
    """Copy what a lane is made of."""
    root.mkdir()
    for name in CARRIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, root / name)
    return Lane(root)


@pytest.fixture(scope="module", params=WHERE)
def kernel_failures(
    request: pytest.FixtureRequest,
    laid: Callable[..., Laid],
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, str | None]:
    """By check of the module's ``SCRIPT``, why it failed; interpreted, and on a GPU."""
    folder = tmp_path_factory.mktemp("kernels")
    return failures_of(request.module.SCRIPT, request.param, laid, folder)
