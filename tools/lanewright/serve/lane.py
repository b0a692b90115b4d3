"""A lane laid out on this machine, with all that it takes to run it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.project import Device, Project
from lanewright.queue.build import build
from lanewright.queue.lock import Lock
from lanewright.queue.series import Series, load_series
from lanewright.queue.site import lay_bare, lay_site
from lanewright.queue.verify import require_intact
from lanewright.serve.base import ensure_base
from lanewright.serve.environment import LaneEnv
from lanewright.serve.equality.asked import DEFAULT, Asked
from lanewright.serve.hardware import require_hardware
from lanewright.serve.seams import require_switched
from lanewright.serve.served import Wants, wants_of
from lanewright.serve.shims import check_shims
from lanewright.store.objects import TreeId

IMAGES_PYTHON = Path("python3")


@dataclass(frozen=True, kw_only=True)
class Lane:
    """What is run.

    Attributes:
        lock: Of the lane.
        device: What it runs on.
        env: Interpreter, site of the lane's tree, and shims.
        pin: The same with the site of the unpatched pin.
        model: What it serves.
        engine: Keyword arguments of ``vllm.LLM``.
        asked: How much of its answers is compared with the pin's.
    """

    lock: Lock
    device: Device
    env: LaneEnv
    pin: LaneEnv
    model: Wants
    engine: Mapping[str, object]
    asked: Asked = DEFAULT


def only_in_image(project: Project, series: Series) -> bool:
    """Whether a lane runs in its image alone: on a GPU, what is compiled is the image's."""
    return series.device != "cpu" and not _requirements(project, series).exists()


def _requirements(project: Project, series: Series) -> Path:
    return project.environments / f"{series.device}.txt"


def lay_lane(project: Project, places: Places, name: str, *, bare: bool = False) -> Lane:
    """Lay a lane's tree and its pin's out, whole and untouched, beside a base environment.

    Args:
        project: The user's project.
        places: Where trees and environments are kept.
        name: Of the lane.
        bare: Only the trees, to be read: what runs is an image's Python.

    Raises:
        HardwareError: This machine has not what the lane runs on.
        DriftError: The lane's lock is out of date.
        MismatchError: A tree on disk is not the one in the store.
        LanewrightError: It names a shim that there is not, more to compare than there is, or code
            at a seam of what is off; it runs in its image alone; or as ``ensure_base`` and
            ``lay_site`` say.
    """
    series = load_series(project, name)
    require_hardware(name, series.device)
    place = project.series_file(name)
    shims = check_shims(series.boot.shims, f"{place}: [boot] shims")
    require_switched(series, f"{place}: [seams]")
    asked = Asked.of(series.equality, f"{place}: [equality]", series.engine)
    lock = build(project, places, name, check=True).lock
    if only_in_image(project, series) and not bare:
        raise LanewrightError(
            f"lane {name} runs in its image alone: there is no list of what vLLM needs on"
            f" {series.device} ({_requirements(project, series)})",
            hint=f"`lanewright boot {name}` and `lanewright equal {name}` run it there",
        )
    python = IMAGES_PYTHON if bare else ensure_base(places, _requirements(project, series))

    def laid(tree: TreeId) -> LaneEnv:
        if bare:
            site = lay_bare(places, tree)
        else:
            site = lay_site(places, lock.pin, tree)
            require_intact(places, lock, tree)
        return LaneEnv(python=python, site=site, bytecode=places.bytecode, shims=shims)

    return Lane(
        lock=lock,
        device=series.device,
        env=laid(lock.tree),
        pin=laid(lock.pin.tree),
        model=wants_of(series, name),
        engine=_resolved(series.engine, project.root),
        asked=asked,
    )


def _resolved(engine: Mapping[str, object], root: Path) -> Mapping[str, object]:
    """Take a boot map's file from the project: an engine runs in a folder of its own."""
    value = engine.get("moe_boot_map")
    if not isinstance(value, str) or value in ("first", "empty"):
        return engine
    return {**engine, "moe_boot_map": str(root / value)}
