"""One run of a lane: model, offline boot, server boot, and the record of all of it."""

import dataclasses
import hashlib
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from lanewright import __version__
from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.queue.lock import Lock, encode
from lanewright.serve.environment import LaneEnv
from lanewright.serve.model import ensure_model, recipe_hash, recipe_text
from lanewright.serve.offline import boot_offline
from lanewright.serve.port import usable_port
from lanewright.serve.record import SCHEMA, make_run_folder, write_record
from lanewright.serve.server import boot_server
from lanewright.terminal import say


def run_lane(
    places: Places,
    *,
    lock: Lock,
    env: LaneEnv,
    recipe: str,
    engine: Mapping[str, object],
    port: int | None,
    server: bool = True,
) -> dict[str, Any]:
    """Boot a lane both ways and write down how it went; a failed run is written down, too.

    Args:
        places: Where models and records are kept.
        lock: What is booted.
        env: Interpreter and site of the lane's tree.
        recipe: Name of the model's recipe.
        engine: Keyword arguments of ``vllm.LLM``.
        port: Port of the server on 127.0.0.1; a free one when None.
        server: Whether to boot the server after the offline engine.

    Returns:
        The record, as ``record.schema.json`` has it.

    Raises:
        LanewrightError: The given port is taken, or there is no such recipe; nothing ran and nothing is written.
        BootError: A boot died or hung.
        MismatchError: A carried feature did not take effect.
    """
    recipe_text(recipe)
    if server:
        usable_port(port)
    started = datetime.now(UTC)
    folder = make_run_folder(places, lock.lane, lock.tree, started)
    record = blank(lock, env, engine, folder, started)
    try:
        boot(record, places, env, recipe, engine, folder, port=port, server=server)
        record["verdict"] = "passed"
    except BaseException as error:
        record["error"] = told(error)
        raise
    finally:
        record["finished"] = written(datetime.now(UTC))
        file = write_record(folder, record)
        say(f"record: {file}")
    return record


def boot(
    record: dict[str, Any],
    places: Places,
    env: LaneEnv,
    recipe: str,
    engine: Mapping[str, object],
    folder: Path,
    *,
    port: int | None,
    server: bool,
) -> None:
    """Boot a lane and fill in its record as far as that comes."""
    model = ensure_model(places, env, recipe)
    record["model"] = {"recipe": recipe, "name": model.name, "hash": recipe_hash(recipe)}
    offline = boot_offline(env, model, engine, folder)
    record["boots"]["offline"] = dataclasses.asdict(offline)
    record["environment"] |= {name: getattr(offline, name) for name in ("python", "torch", "vllm")}
    if server:
        served = boot_server(env, model, engine, folder, port=port)
        record["boots"]["server"] = dataclasses.asdict(served)
        record["agree"] = served.completions == offline.completions


def blank(
    lock: Lock,
    env: LaneEnv,
    engine: Mapping[str, object],
    folder: Path,
    started: datetime,
) -> dict[str, Any]:
    """Make the record of a run that has come to nothing yet."""
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
        "entries": msgspec.to_builtins(lock.entries),
        "engine": dict(engine),
        "environment": {
            "base": env.python.parent.parent.name,
            "machine": platform.machine(),
            "python": None,
            "torch": None,
            "vllm": None,
        },
        "model": None,
        "boots": {"offline": None, "server": None},
        "agree": None,
        "verdict": "failed",
        "error": None,
    }


def written(time: datetime) -> str:
    """Write a UTC time as records have it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def told(error: BaseException) -> dict[str, Any]:
    """Write an error as records have it."""
    if isinstance(error, LanewrightError):
        code = error.exit_code
    else:
        code = ExitCode.INTERRUPTED if isinstance(error, KeyboardInterrupt) else ExitCode.BUG
    return {"message": str(error) or type(error).__name__, "exit_code": int(code)}
