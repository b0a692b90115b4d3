"""Boot a lane's image in a container, and hold what it answers against the lane outside."""

import json
import time
from pathlib import Path

from lanewright.errors import HardwareError
from lanewright.image.container.boxed import INSIDE, Box, clear_dead, open_to
from lanewright.image.container.command import OWN, SCRIPTS, WORK, inside, model_mounted, mounted
from lanewright.image.container.engine import Engine, pulled
from lanewright.image.container.files import expected_files, require_same_files
from lanewright.image.container.golden import golden
from lanewright.image.container.offline import boot_offline
from lanewright.image.container.seen import Smoke
from lanewright.image.container.server import boot_server
from lanewright.image.opened.image import OpenImage
from lanewright.places import Places
from lanewright.queue.lock import Lock
from lanewright.queue.series import Series
from lanewright.queue.series_run import RunSpec
from lanewright.serve.caches import caches_of
from lanewright.serve.engines import SCRIPT
from lanewright.serve.equality.asked import Mode
from lanewright.serve.lane import Lane
from lanewright.serve.served import served_model
from lanewright.store.git import Repository
from lanewright.terminal import stage


def smoke(
    places: Places,
    series: Series,
    lane: Lane,
    folder: Path,
    base: OpenImage,
    engine: Engine,
    work: Path,
) -> Smoke:
    """Boot an image: files, offline engine, server.

    Args:
        places: Where models and records are.
        series: Of the lane.
        lane: Laid out on this machine, whose answers are the measure.
        folder: Its layout.
        base: What it stands on.
        engine: What runs the container.
        work: A folder of this run's own, for logs and results.

    Raises:
        HardwareError: The lane stands on shims, which no image has.
        BootError: Something died or hung.
        MismatchError: A file, an answer, a version or an exit status is another than it must be.
        LanewrightError: There is nothing to compare with.
    """
    lock = lane.lock
    if lane.env.shims:
        raise HardwareError(
            f"lane {lock.lane} stands in for hardware here ({', '.join(lane.env.shims)}), which is no"
            " part of an image",
            hint=f"lanewright boot {lock.lane} boots it outside of a container",
        )
    mode: Mode = "eager" if lane.engine.get("enforce_eager") else "compiled"
    served = served_model(places, lane.env, lane.model)
    model = served.folder
    measure = golden(places, lock, mode, served)
    clear_dead(engine)
    start = time.monotonic()
    name = pulled(engine, lock, folder)
    done = Smoke(image=name, engine=engine.name, whose=measure.whose, golden=measure.seconds)
    done.seconds["bring"] = round(time.monotonic() - start, 1)
    run = (series.image.run if series.image else None) or RunSpec()
    stands_on = base.config_blob.digest
    caches = caches_of(places, lock.lane, base=stands_on, tree=lock.tree, wanted=run.caches)
    mounts = _mounts(lane, model, work)
    box = Box(engine, name, run, mounts, work, inside(model), caches)
    open_to(engine, work)
    with stage(f"smoke in {engine.name}"):
        _files(places, box, lock, done, work)
        boot_offline(box, lane, measure, done, work)
        boot_server(box, series, lane, measure, done, work)
    return done


def _mounts(lane: Lane, model: Path, work: Path) -> list[str]:
    found = [
        model_mounted(model),
        mounted(SCRIPT.parent, SCRIPTS),
        mounted(INSIDE, OWN),
        mounted(work, WORK, writable=True),
    ]
    boot_map = lane.engine.get("moe_boot_map")
    if isinstance(boot_map, str) and boot_map.startswith("/"):
        found.append(mounted(Path(boot_map), boot_map))
    return found


def _files(places: Places, box: Box, lock: Lock, done: Smoke, work: Path) -> None:
    start = time.monotonic()
    expected = expected_files(Repository(places.objects), lock)
    (work / "files.json").write_text(json.dumps(list(expected)))
    box.python("files", [f"{OWN}/hashes.py", f"{WORK}/files.json"])
    printed = (work / "files.log").read_text(errors="replace").splitlines()
    require_same_files(lock, expected, printed[-1] if printed else "{}")
    done.files = len(expected)
    done.seconds["files"] = round(time.monotonic() - start, 1)
