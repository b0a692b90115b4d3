"""A project with several stand-in lanes, and what its nights came to."""

import json
from pathlib import Path
from typing import Any

from tests.conftest import World
from tests.upstream.standing import Standing

PASSED = ["fetch", "report", "build", "status", "boot"]
# Nothing here tells what upstream's newest release is.
OFFLINE = ["drift"]
WINDOW = ["window", "restore"]
IMAGES = ["mirror", "base", "image", "smoke"]


def add_lane(world: World, name: str, old: str = "", new: str = "") -> None:
    """Another lane, as the sample is, with an edit of its series."""
    text = (world.root / "series/sample.toml").read_text()
    assert old in text
    (world.root / f"series/{name}.toml").write_text(text.replace(old, new))


def folders(world: Standing) -> list[Path]:
    """Of nights, oldest first."""
    return sorted(each.parent for each in world.places.state.glob("nights/*/night.json"))


def night(world: Standing) -> dict[str, Any]:
    """The newest night as it is on disk."""
    found: dict[str, Any] = json.loads((folders(world)[-1] / "night.json").read_text())
    return found


def verdicts(found: dict[str, Any], lane: str) -> dict[str, str]:
    """What each step of a lane came to."""
    return {step["name"]: step["verdict"] for step in found["steps"] if step["lane"] == lane}


def step_of(found: dict[str, Any], lane: str, name: str) -> dict[str, Any]:
    """A step of a lane."""
    (step,) = [s for s in found["steps"] if (s["lane"], s["name"]) == (lane, name)]
    return dict(step)
