"""Records of runs: ``runs/<lane>/<utc>-<tree8>/record.json`` below the state folder."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.store.atomic import replace_file, sync_folder

SCHEMA = 1
SCHEMA_FILE = Path(__file__).with_name("record.schema.json")
STAMP = "%Y%m%dT%H%M%SZ"
STAMP_LENGTH = 16
# Of the lane as it was run.
LOCK = "lane.lock"


def make_run_folder(places: Places, lane: str, tree: str, started: datetime) -> Path:
    """Make the folder of a run; a second run in the same second gets a number behind its name.

    Args:
        places: Where the state is.
        lane: The lane's name.
        tree: Id of the tree that is booted.
        started: When, in any time zone.

    Raises:
        LanewrightError: The folder cannot be made.
    """
    name = f"{started.astimezone(UTC).strftime(STAMP)}-{tree[:8]}"
    runs = places.state / "runs" / lane
    number = 1
    try:
        runs.mkdir(parents=True, exist_ok=True)
        while True:
            folder = runs / (name if number == 1 else f"{name}-{number}")
            try:
                folder.mkdir()
            except FileExistsError:
                number += 1
            else:
                return folder
    except OSError as error:
        raise LanewrightError(
            f"cannot keep a record in {runs}: {error.strerror}",
            hint="name another folder in LANEWRIGHT_STATE",
        ) from error


def write_record(folder: Path, record: dict[str, Any]) -> Path:
    """Write ``record.json``, whole or not at all.

    Args:
        folder: Made by ``make_run_folder``.
        record: As ``record.schema.json`` has it, tuples for lists allowed.

    Raises:
        LanewrightError: The folder cannot be written.
        jsonschema.ValidationError: A bug here: the record is not as its schema says.
    """
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - 100 ms that a reader need not pay

    text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    Draft202012Validator(json.loads(SCHEMA_FILE.read_text())).validate(json.loads(text))
    target = folder / "record.json"
    try:
        replace_file(target, text.encode())
        # What an interrupted comparison needs is removed behind it.
        sync_folder(folder)
    except OSError as error:
        raise LanewrightError(f"cannot write {target}: {error.strerror}") from error
    return target


def read_latest(places: Places, lane: str) -> dict[str, Any] | None:
    """Read the newest record of a lane; None where there is none.

    Raises:
        LanewrightError: It is damaged.
    """
    return next((record for record, _ in newest_records(places, lane)), None)


def newest_records(places: Places, lane: str) -> Iterator[tuple[dict[str, Any], Path]]:
    """Read the records of a lane, the newest first, each with its run's folder.

    Raises:
        LanewrightError: One is damaged.
    """
    found = (places.state / "runs" / lane).glob("*/record.json")
    for file in sorted(found, key=_age, reverse=True):
        try:
            record: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise LanewrightError(f"{file} is damaged: {error}", hint=f"remove {file}") from error
        yield record, file.parent


def _age(record: Path) -> tuple[str, int]:
    """Order by the second a run started in, then by when its record was written."""
    return record.parent.name[:STAMP_LENGTH], record.stat().st_mtime_ns
