"""One run of a lane: model, boots, equality, and the record of all of it."""

import dataclasses
import hashlib
import json
import platform
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from lanewright import __version__
from lanewright.errors import ExitCode, LanewrightError, MismatchError
from lanewright.guarded import ended
from lanewright.places import Places
from lanewright.queue.lock import encode
from lanewright.serve.equality.earlier import Resuming
from lanewright.serve.equality.machine import hardware
from lanewright.serve.equality.run import equality
from lanewright.serve.equality.told import lines, proven
from lanewright.serve.equality.verdict import Verdict
from lanewright.serve.lane import Lane
from lanewright.serve.offline import boot_offline
from lanewright.serve.port import usable_port
from lanewright.serve.record import LOCK, SCHEMA, make_run_folder, write_record
from lanewright.serve.served import served_model
from lanewright.serve.server import boot_server
from lanewright.serve.usage import Usage, write_usage
from lanewright.serve.wanted import Wanted
from lanewright.store.atomic import replace_file
from lanewright.store.locking import held
from lanewright.terminal import say

VERSIONS = ("python", "torch", "vllm")


def run_lane(places: Places, lane: Lane, wanted: Wanted) -> dict[str, Any]:
    """Run a lane and write down how it went; a failed run is written down, too.

    Args:
        places: Where models and records are kept.
        lane: What to run.
        wanted: Which parts of a run.

    Returns:
        The record, as ``record.schema.json`` has it.

    Raises:
        LanewrightError: The given port is taken, or there is no such recipe; nothing ran and
            nothing is written.
        BootError: A boot died or hung.
        MismatchError: A carried feature did not take effect, or the answers are not the
            baseline's.
    """
    lane.model.require()
    if wanted.server:
        usable_port(wanted.port)
    # Two engines on the same cores wait for each other in spinning loops: each takes 20 times as long.
    with held(places.store / "run.lock", "runs a lane", lane=lane.lock.lane):
        return recorded(places, lane, wanted)


def recorded(places: Places, lane: Lane, wanted: Wanted) -> dict[str, Any]:
    """Run a lane and give its record, which is written however the run ends."""
    started = datetime.now(UTC)
    folder = make_run_folder(places, lane.lock.lane, lane.lock.tree, started)
    record = blank(lane, folder, started)
    after_record = ExitStack()
    try:
        run(record, places, lane, wanted, folder, after_record)
        record["verdict"] = "passed"
    except BaseException as error:
        record["error"] = told(error)
        raise
    finally:
        record["finished"] = written(datetime.now(UTC))
        file = write_record(folder, record)
        # Not where that fails: what is forgotten then is nowhere else.
        after_record.close()
        say(f"record: {file}")
    return record


def run(
    record: dict[str, Any],
    places: Places,
    lane: Lane,
    wanted: Wanted,
    folder: Path,
    after_record: ExitStack,
) -> None:
    """Run a lane and fill in its record as far as that comes; what is to follow it goes to the stack."""
    # The project's own is another one once somebody has followed what a failed run advises.
    replace_file(folder / LOCK, encode(lane.lock))
    found = served_model(places, lane.env, lane.model)
    model = found.folder
    record["model"] = found.record()
    offline = None
    if not wanted.boots:
        offline = boot_offline(lane.env, model, lane.engine, folder, device=lane.device)
        record["boots"]["offline"] = dataclasses.asdict(offline)
        ran = {name: getattr(offline, name) for name in VERSIONS}
        _tell(record, ran, offline.usage, folder, found.hash)
    if wanted.server:
        port = wanted.port
        server = boot_server(lane.env, model, lane.engine, folder, device=lane.device, port=port)
        record["boots"]["server"] = dataclasses.asdict(server)
        ids = [each.ids for each in server.completions]
        theirs = [each.ids for each in offline.completions] if offline else None
        record["agree"] = ids == theirs
    if wanted.modes:
        compared = equality(
            lane.pin,
            lane.env,
            baseline=lane.lock.pin.tree,
            model=model,
            engine=lane.engine,
            folder=folder / "equality",
            device=lane.device,
            modes=wanted.modes,
            resuming=Resuming(
                runs=folder.parent,
                tree=lane.lock.tree,
                model=found.content,
                asked=wanted.resume,
                command=f"{wanted.command(lane)} --resume",
            ),
            after_record=after_record,
            asked=lane.asked,
            boots=wanted.boots,
        )
        record["equality"] = dataclasses.asdict(compared)
        if wanted.boots:
            last = [*compared.proofs][-1]
            ran = json.loads((folder / "equality" / f"lane.{last}.json").read_text())
            _tell(record, ran, ran["usage"], folder, found.hash)
        if compared.verdict != "equal":
            facts = [*lines(record["equality"]), *proven(record["equality"])]
            raise MismatchError(
                f"lane {lane.lock.lane}: equality with its baseline: {compared.verdict}\n  "
                + "\n  ".join(facts),
                hint=f"every answer is in {folder / 'equality'}{searched(lane, wanted, compared.verdict)}",
            )


def _tell(
    record: dict[str, Any], ran: Mapping[str, Any], usage: Usage, folder: Path, model: str
) -> None:
    """Fill in what ran the lane, and what its picks were."""
    record["environment"] |= {name: ran[name] for name in VERSIONS}
    written = write_usage(folder / "usage.parquet", usage, model=model)
    record["usage"] = written.name if written else None


def searched(lane: Lane, wanted: Wanted, verdict: Verdict) -> str:
    """What finds the hunk that answers differ by, where trees can be booted one after another."""
    if wanted.in_image or verdict != "differs":
        return ""
    return f"; which hunk it is: `lanewright bisect {lane.lock.lane} --equal`"


def blank(lane: Lane, folder: Path, started: datetime) -> dict[str, Any]:
    """Make the record of a run that has come to nothing yet."""
    lock = lane.lock
    return {
        "schema": SCHEMA,
        "lane": lock.lane,
        "folder": str(folder),
        "started": written(started),
        "finished": written(started),
        "lanewright": __version__,
        "lock": hashlib.sha256(encode(lock)).hexdigest(),
        "pin": msgspec.to_builtins(lock.pin),
        "tree": lock.tree,
        "layer": msgspec.to_builtins(lock.layer) if lock.layer else None,
        "entries": msgspec.to_builtins(lock.entries),
        "engine": dict(lane.engine),
        "drift": lane.asked.drift,
        "environment": {
            "base": lane.env.base,
            "machine": platform.machine(),
            "hardware": hardware(lane.device),
            "python": None,
            "torch": None,
            "vllm": None,
        },
        "shims": list(lane.env.shims),
        "model": None,
        "boots": {"offline": None, "server": None},
        "agree": None,
        "usage": None,
        "equality": None,
        "verdict": "failed",
        "error": None,
    }


def written(time: datetime) -> str:
    """Write a UTC time as records have it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def told(error: BaseException) -> dict[str, Any]:
    """Write an error as records have it."""
    match error:
        case LanewrightError():
            code = error.exit_code
        case KeyboardInterrupt():
            code = ExitCode.INTERRUPTED
        case SystemExit(code=int(number)):
            return {"message": f"stopped: {ended(number)}", "exit_code": number}
        case OSError():
            code = ExitCode.INPUT
        case _:
            code = ExitCode.BUG
    return {"message": str(error) or type(error).__name__, "exit_code": int(code)}
