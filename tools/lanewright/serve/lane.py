"""A lane laid out on this machine, with all that it takes to run it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lanewright.places import Places
from lanewright.project import Device, Project
from lanewright.queue.build import build
from lanewright.queue.lock import Lock
from lanewright.queue.series import load_series
from lanewright.queue.series_model import recipe_of
from lanewright.queue.site import lay_site
from lanewright.queue.verify import require_intact
from lanewright.serve.base import ensure_base
from lanewright.serve.environment import LaneEnv
from lanewright.serve.equality.asked import DEFAULT, Asked
from lanewright.serve.hardware import require_hardware
from lanewright.serve.seams import require_switched
from lanewright.serve.shims import check_shims
from lanewright.store.objects import TreeId


@dataclass(frozen=True, kw_only=True)
class Lane:
    """What is run.

    Attributes:
        lock: Of the lane.
        device: What it runs on.
        env: Interpreter, site of the lane's tree, and shims.
        pin: The same with the site of the unpatched pin.
        recipe: Name of the model's recipe.
        engine: Keyword arguments of ``vllm.LLM``.
        asked: How much of its answers is compared with the pin's.
    """

    lock: Lock
    device: Device
    env: LaneEnv
    pin: LaneEnv
    recipe: str
    engine: Mapping[str, object]
    asked: Asked = DEFAULT


def lay_lane(project: Project, places: Places, name: str) -> Lane:
    """Lay a lane's tree and its pin's out, whole and untouched, beside a base environment.

    Raises:
        HardwareError: This machine has not what the lane runs on.
        DriftError: The lane's lock is out of date.
        MismatchError: A tree on disk is not the one in the store.
        LanewrightError: It names a shim that there is not, more to compare than there is, or code
            at a seam of what is off; its model is not a generated one; or as ``ensure_base`` and
            ``lay_site`` say.
    """
    series = load_series(project, name)
    require_hardware(name, series.device)
    recipe = recipe_of(series.model, name)
    place = project.series_file(name)
    shims = check_shims(series.boot.shims, f"{place}: [boot] shims")
    require_switched(series, f"{place}: [seams]")
    asked = Asked.of(series.equality, f"{place}: [equality]", series.engine)
    lock = build(project, places, name, check=True).lock
    python = ensure_base(places, project.environments / f"{series.device}.txt")

    def laid(tree: TreeId) -> LaneEnv:
        site = lay_site(places, lock.pin, tree)
        require_intact(places, lock, tree)
        return LaneEnv(python=python, site=site, bytecode=places.bytecode, shims=shims)

    return Lane(
        lock=lock,
        device=series.device,
        env=laid(lock.tree),
        pin=laid(lock.pin.tree),
        recipe=recipe,
        engine=_resolved(series.engine, project.root),
        asked=asked,
    )


def _resolved(engine: Mapping[str, object], root: Path) -> Mapping[str, object]:
    """Take a boot map's file from the project: an engine runs in a folder of its own."""
    value = engine.get("moe_boot_map")
    if not isinstance(value, str) or value in ("first", "empty"):
        return engine
    return {**engine, "moe_boot_map": str(root / value)}
