"""A lane laid out to run in its image, and its unpatched pin in the image's base."""

from dataclasses import dataclass, replace
from pathlib import Path

from lanewright.errors import HardwareError
from lanewright.image.container.boxed import clear_dead
from lanewright.image.container.engine import Engine, engine_here, pulled, pulled_base
from lanewright.image.container.image_env import ImageEnv
from lanewright.image.onto.base import told_base
from lanewright.image.onto.composed import compose
from lanewright.image.onto.refusing import require_good_image
from lanewright.image.onto.standing import standing_image
from lanewright.image.opened.image import OpenImage
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.lock import layer_of
from lanewright.queue.series import load_series
from lanewright.queue.series_run import RunSpec
from lanewright.serve.caches import caches_of
from lanewright.serve.environment import LaneEnv
from lanewright.serve.lane import Lane, lay_lane
from lanewright.store.objects import TreeId
from lanewright.terminal import say, stage


@dataclass(frozen=True)
class Ready:
    """All that a lane's containers are made of, but for what the engine has of it.

    Attributes:
        lane: Its trees, bare.
        folder: Of its image.
        base: What that stands on.
        engine: Runs containers here.
    """

    lane: Lane
    folder: Path
    base: OpenImage
    engine: Engine


def lay_in_image(project: Project, places: Places, name: str, wanted: str | None = None) -> Lane:
    """Lay a lane out so that containers run it: of its image, and of the base for the pin.

    Args:
        project: The user's project.
        places: Where images, trees and environments are kept.
        name: Of the lane.
        wanted: Engine; by default the first that is here.

    Raises:
        HardwareError: This machine has not what the lane runs on, or it stands on shims.
        MismatchError: The image is not the lock's, or its base is not of the pin; it does not stay.
        LanewrightError: There is no image, no engine, no model that a container would see all of,
            or what ``lay_lane`` says.
    """
    series = load_series(project, name)
    ready = ready_in_image(project, places, name, wanted)
    lane, folder, base, engine = ready.lane, ready.folder, ready.base, ready.engine
    say(f"lane {name}: it runs in its image, on {told_base(lane.lock, base)}")
    image = compose(lane.lock, base)
    clear_dead(engine)
    with stage("images"):
        of_lane = pulled(engine, lane.lock, folder)
        of_pin = pulled_base(engine, base)
    # `standing_image` is of a series with [image].
    assert series.image  # noqa: S101
    run = series.image.run or RunSpec()
    packages = Path(series.image.site_packages)
    stands_on, lock = base.config_blob.digest, lane.lock

    def boxed(env: LaneEnv, tree: TreeId, image_name: str, image_id: str, version: str) -> ImageEnv:
        return ImageEnv(
            python=env.python,
            site=env.site,
            bytecode=env.bytecode,
            engine=engine,
            image=image_name,
            image_id=image_id,
            packages=packages,
            version=version,
            run=run,
            kept=caches_of(places, name, base=stands_on, tree=tree, wanted=run.caches),
        )

    return replace(
        lane,
        env=boxed(lane.env, lock.tree, of_lane, image.config, layer_of(lock).version or ""),
        pin=boxed(lane.pin, lock.pin.tree, of_pin, stands_on, ""),
    )


def ready_in_image(project: Project, places: Places, name: str, wanted: str | None = None) -> Ready:
    """Check all of ``lay_in_image`` that takes no time and stands in nobody's way.

    Raises:
        HardwareError: As there.
        MismatchError: As there.
        LanewrightError: As there.
    """
    series = load_series(project, name)
    lane = lay_lane(project, places, name, bare=True)
    if lane.env.shims:
        raise HardwareError(
            f"lane {name} stands in for hardware here ({', '.join(lane.env.shims)}), which is no"
            " part of an image",
            hint=f"`lanewright boot {name}` without --in-image boots it outside of a container",
        )
    folder, base = standing_image(project, places, series, lane.lock)
    require_good_image(places, lane.lock, folder, base)
    # Before images are brought, which takes longer than all of this.
    lane.model.require(boxed=True)
    return Ready(lane, folder, base, engine_here(wanted))
