"""Nights and runs as they lie on disk, and what the history holds of them."""

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lanewright.history.database import FILE
from lanewright.nightly.night import Night, Step, nights, write_night
from lanewright.places import Places
from lanewright.serve.record import make_run_folder, write_record

TREE = "0123456789abcdef0123456789abcdef01234567"
HARDWARE = "x86_64, Some CPU, 2 cores"
FIRST: dict[str, Any] = {
    "number": 3,
    "prompt": "A",
    "index": 7,
    "what": "token",
    "baseline": 1,
    "other": 2,
    "gap": 0.5,
}
PROOF: dict[str, Any] = {"feature": "x", "on": True, "facts": {"picks": 6}, "text": "6 = 2 x 3"}


def at(day: int, hour: int = 2) -> datetime:
    """A time of November 2026."""
    return datetime(2026, 11, day, hour, tzinfo=UTC)


def written(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def boot(seconds: dict[str, float], **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """A boot that gave one answer of four tokens."""
    answer = {"prompt": "A", "ids": [1, 2, 3, 4], "text": "", "prompt_tokens": 1}
    return {
        "seconds": seconds,
        "completions": [{**answer, "cached_tokens": 0}],
        "status": [],
        "usage": [],
        "proofs": [PROOF],
        "log": "boot.log",
        **more,
    }


def rows(*, equal: bool = True) -> list[dict[str, Any]]:
    of_all = {"prompts": 44, "first": None}
    differs = {**of_all, "equal": 43, "first": FIRST}
    return [
        {"arm": "self", "role": "control", "equal": 44, **of_all},
        {**differs, "arm": "exchanged", "role": "negative control", "equal": 0},
        {"arm": "on", "role": "arm", **({"equal": 44, **of_all} if equal else differs)},
    ]


def equality(*, equal: bool = True, **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    verdict = "equal" if equal else "differs"
    mode = {"mode": "eager", "verdict": verdict, "why": "", "distinct": 300}
    return {
        "verdict": verdict,
        "baseline": TREE,
        "tokens": 64,
        "fewer": [],
        "exchanged": "layers.1",
        "modes": [{**mode, "rows": rows(equal=equal)}],
        "proofs": {"eager.on": [PROOF], "eager.off": []},
        "resumed": {},
        **changed,
    }


def record(started: datetime, **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    """A run that passed and was compared."""
    hunks = [{"id": str(n), "path": "a.py", "outcome": word} for n, word in enumerate(OUTCOMES)]
    server = {"ready": 38.3, "requests": 0.5, "stop": 0.4}
    return {
        "schema": 1,
        "lane": "sample",
        "folder": "/runs/sample",
        "started": written(started),
        "finished": written(started),
        "lanewright": "0.1.0",
        "lock": "0" * 64,
        "pin": {"ref": "release:1.1", "commit": TREE, "tree": TREE, "version": "1.1"},
        "tree": TREE,
        "layer": {"digest": f"sha256:{'1' * 64}", "size": 2048, "site_packages": "/opt"},
        "entries": [
            {"name": "hook", "kind": "patch", "source": "own/hook.patch", "hunks": hunks},
            {"name": "bank", "kind": "overlay", "source": "overlay/bank", "files": ["x.py"]},
        ],
        "engine": {},
        "drift": 0.03,
        "environment": {
            "base": "cp311",
            "machine": "x86_64",
            "hardware": HARDWARE,
            "python": None,
            "torch": None,
            "vllm": None,
        },
        "shims": [],
        "model": {"recipe": None, "name": "tiny", "hash": "0"},
        "boots": {
            "offline": boot(
                {"import": 12.8, "engine": 4.1, "generate": 2.0},
                vllm="1.1",
                vllm_file="/a",
                torch="2",
                python="3",
            ),
            "server": boot(server, port=8000, command=["python"], health=True),
        },
        "agree": True,
        "usage": None,
        "equality": equality(),
        "verdict": "passed",
        "error": None,
        **changed,
    }


OUTCOMES = ("merged", "clean", "merged")
FAILED: dict[str, Any] = {
    "verdict": "failed",
    "equality": None,
    "error": {"message": "engine died\nof a signal", "exit_code": 1},
}


def lay_run(places: Places, started: datetime, lane: str = "sample", **changed: Any) -> Path:  # noqa: ANN401
    """Write a run's record; its folder."""
    folder = make_run_folder(places, lane, TREE, started)
    write_record(folder, record(started, lane=lane, **changed))
    return folder


def lay_arm(
    folder: Path, name: str, seconds: float, tokens: int = 64, cores: int | None = 1
) -> Path:
    """Write what an arm left, as ``serve/inside/arms.py`` does: twice as many tokens, of two passes.

    An earlier lanewright's tells no cores.
    """
    file = folder / "equality" / f"{name}.json"
    file.parent.mkdir(exist_ok=True)
    answer = {"prompt": "A", "ids": list(range(tokens)), "text": "", "bits": [0] * tokens}
    file.write_text(
        json.dumps(
            {
                "vllm_file": "/a",
                "seconds": {"import": 1.0, "engine": 2.0, "generate": seconds},
                "completions": [answer],
                "together": {"2": [answer]},
                **({} if cores is None else {"cores": cores}),
            }
        )
    )
    return file


def night(started: datetime, steps: list[Step], **changed: Any) -> Night:  # noqa: ANN401
    told: dict[str, Any] = {
        "name": started.strftime("%Y%m%dT%H%M%SZ"),
        "started": written(started),
        "finished": written(started.replace(minute=50)),
        "lanewright": "0.1.0",
        "project": "/project",
        "commit": TREE,
        "inputs": 64 * "0",
        "lanes": ["sample"],
        "steps": steps,
    }
    return Night(**{**told, **changed})


def lay_night(places: Places, started: datetime, steps: list[Step], **changed: Any) -> Path:  # noqa: ANN401
    """Write a night; its folder."""
    made = night(started, steps, **changed)
    folder = nights(places) / made.name
    folder.mkdir(parents=True, exist_ok=True)
    write_night(folder, made)
    return folder


def step(name: str, verdict: Any = "passed", **changed: Any) -> Step:  # noqa: ANN401
    """A step of the lane ``sample`` that took two seconds."""
    told: dict[str, Any] = {
        "name": name,
        "command": [name, "sample"],
        "lane": "sample",
        "verdict": verdict,
        "exit_code": 0 if verdict == "passed" else 1,
        "started": "2026-11-01T02:00:00Z",
        "seconds": 2.0,
    }
    return Step(**{**told, **changed})


def held_rows(places: Places) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables."""
    connection = sqlite3.connect(places.state / FILE)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        return {
            name: sorted(connection.execute(f"SELECT * FROM {name}"), key=repr)  # noqa: S608
            for (name,) in names.fetchall()
        }
    finally:
        connection.close()
