"""One run of each lane feeds all tests here: on this machine a model takes long to load.

It is the command that a user types. What it needs is the machine's own: lock, image, model.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lanewright.commands.image_smoke import why_not
from lanewright.errors import LanewrightError
from lanewright.nightly.free import users
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.build import build
from lanewright.queue.series import Series, load_series
from lanewright.serve.served import wants_of
from tests.gb300.machine import missing

ROOT = Path(__file__).parents[2]
TWO_BANK, STAGING = "gb300-twobank", "gb300-staging"
# The pin, and the lane.
BOOTS = 2
RECORD = re.compile(r"record: (.+/record\.json)$", re.MULTILINE)


@dataclass(frozen=True)
class Ran:
    """What a run of a lane came to.

    Attributes:
        code: Exit code of the command.
        said: Its talk.
        series: Of the lane.
        record: Of the run.
    """

    code: int
    said: str
    series: Series
    record: Mapping[str, Any]

    @property
    def equality(self) -> Mapping[str, Any]:
        """What the comparison came to; the test fails where it came to nothing."""
        assert self.record["equality"], self.said[-2000:]
        found: Mapping[str, Any] = self.record["equality"]
        return found

    @property
    def mode(self) -> str:
        """Of the engine."""
        (found,) = self.equality["modes"]
        return str(found["mode"])

    def engine(self, arm: str) -> Mapping[str, Any]:
        """What its engine started and ended with."""
        found: Mapping[str, Any] = self.equality["engines"][f"{self.mode}.{arm}"]
        return found

    def facts(self, arm: str, feature: str) -> Mapping[str, int]:
        """What is proven of a feature in an arm of the lane."""
        (found,) = [
            proof["facts"]
            for proof in self.equality["proofs"][f"{self.mode}.{arm}"]
            if proof["feature"] == feature
        ]
        facts: Mapping[str, int] = found
        return facts


@pytest.fixture(scope="session")
def ran() -> Callable[[str], Ran]:
    """Run a lane once, or skip the test and say what is missing for it."""
    return _ran


@cache
def _outcome(lane: str) -> Ran | str | AssertionError:
    project, places = Project.find(ROOT), Places.of_user()
    if lacks := missing() or _lacks(project, places, lane):
        return lacks
    series = load_series(project, lane)
    # Where the machine serves, a night stops that, and starts it again.
    words = ["nightly", lane] if series.window else ["equal", lane, "--boots", str(BOOTS)]
    command = [sys.executable, "-m", "lanewright", "-C", str(ROOT), *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if not (written := RECORD.findall(ended.stderr)):
        return AssertionError(f"{' '.join(words)} wrote no record:\n{ended.stderr[-4000:]}")
    record = json.loads(Path(written[-1]).read_text())
    return Ran(ended.returncode, ended.stderr, series, record)


def _ran(lane: str) -> Ran:
    found = _outcome(lane)
    if isinstance(found, str):
        pytest.skip(found)
    if isinstance(found, AssertionError):
        raise found
    return found


def _lacks(project: Project, places: Places, lane: str) -> str:
    """What a lane lacks on a GB300, in words; empty where it can run."""
    series = load_series(project, lane)
    try:
        lock = build(project, places, lane, check=True).lock
        wants_of(series, lane).require(boxed=True)
        if lacks := why_not(project, places, series, lock):
            return f"lane {lane}: {lacks}"
    except LanewrightError as error:
        return f"lane {lane}: {error}"
    if not series.window and (busy := users(series.device)):
        return f"lane {lane}: in use: {'; '.join(busy)}, and its series has no [window]"
    return ""
