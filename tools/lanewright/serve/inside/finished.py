"""What an arm leaves once it has finished: its files, whole, and behind them a note that says so.

Imported by ``arms.py``, with the lane's Python. The note is the one commit point: a process that is
killed, or a machine that loses its power, leaves an arm noted with all of its files, or not noted.
"""

import hashlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

TIME = "%Y-%m-%dT%H:%M:%SZ"


def write_whole(file: Path, content: bytes) -> None:
    """Write a file that a reader finds whole or not at all, on disk before anything that follows.

    Raises:
        OSError: It cannot be written.
    """
    beside = file.with_name(f"{file.name}.new")
    with beside.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    beside.replace(file)
    folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def digest(file: Path) -> str:
    """SHA-256 of a file's content."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def boot_map_read(engine: dict[str, Any]) -> str | None:
    """Digest of the file that an engine starts its hot rows from; None where that is no file."""
    file = Path(engine.get("moe_boot_map") or "")
    return digest(file) if file.is_absolute() and file.is_file() else None


def note(arm: dict[str, Any], boot_map: str | None) -> None:
    """Note that an arm has finished, where its spec says in which file.

    Args:
        arm: Its spec; ``note`` holds ``file``, ``key`` and ``run``, or is None.
        boot_map: What ``boot_map_read`` gave before the engine was booted.
    """
    if arm["note"] is None:
        return
    left = [Path(arm[name]) for name in ("result", "keeps") if arm[name]]
    told = {
        "key": arm["note"]["key"],
        "run": arm["note"]["run"],
        "finished": datetime.now(UTC).strftime(TIME),
        "boot_map": boot_map,
        "files": {file.name: digest(file) for file in left if file.exists()},
    }
    write_whole(Path(arm["note"]["file"]), json.dumps(told, indent=1).encode())
