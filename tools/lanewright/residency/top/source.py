"""Where stats are read from: the file that a worker replaces, or the server itself."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from expert_bank.refused import Refused
from expert_bank.stats_file import checked, read_stats
from expert_bank.stats_folder import all_stats
from expert_bank.writer import is_there
from lanewright.errors import LanewrightError
from lanewright.residency.top.rows import safe
from lanewright.serve.client import NobodyError, RefusedError, post
from lanewright.terminal import quoted

SECONDS = 60.0
HINT = (
    "start it with --moe-hot-experts, VLLM_SERVER_DEV_MODE=1 and expert_bank's worker and extension"
    " classes, or read its stats file with --file; docs/visibility.md says how"
)

Stats = dict[str, Any]
# Reads the stats as they are now, of the model that is named, where one is.
Source = Callable[[str | None], Stats]


def of_file(path: Path) -> Source:
    """Read a stats file whose worker is still there, or the only such file of a folder.

    Raises:
        LanewrightError: In the folder is none, or are several.
    """
    if path.is_dir():
        path = _only(path)

    def read(model: str | None) -> Stats:
        try:
            stats = read_stats(path, model=model)
        except Refused as error:
            raise LanewrightError(error.message, hint=error.hint) from error
        if not is_there(stats):
            raise LanewrightError(
                f"stats file {path}: the worker that wrote it, process {stats['pid']}, is gone;"
                f" it was written {age(stats):.0f} s ago",
                hint="start the server again; of one in another container ask its --port",
            )
        return stats

    return read


def _only(folder: Path) -> Path:
    """Choose the file of the one server of a folder that runs."""
    running = [(path, stats) for path, stats in all_stats(folder) if is_there(stats)]
    if not running:
        raise LanewrightError(
            f"no server that runs tells in {folder} how its map does",
            hint=f"start one on this version with EXPERT_BANK_STATS={quoted(folder)} and"
            " --moe-hot-experts, or ask it by --port",
        )
    (path, _), *others = running
    if others:
        told = (
            f"{path}: process {stats['pid']}, {safe(stats['model'])}, forward {stats['forwards']},"
            f" {age(stats):.0f} s ago"
            for path, stats in running
        )
        raise LanewrightError(
            "\n  ".join(
                [f"{len(running)} servers that run tell in {folder} how their maps do", *told]
            ),
            hint=f"name one: lanewright residency top --file {quoted(path)}",
        )
    return path


def of_server(port: int) -> Source:
    """Ask the server on a port; its workers count the same picks, and the first answers for all."""

    def read(model: str | None) -> Stats:
        try:
            found = _first_worker(port)
            stats = None if found is None else checked(found, model=model)
        except NobodyError as error:
            raise LanewrightError(
                f"{error}, so there is no server to ask",
                hint="start the server, or name its --port, or its stats with --file",
            ) from error
        except (RefusedError, Refused) as error:
            why = error.message if isinstance(error, Refused) else error
            raise LanewrightError(
                f"the server on port {port} does not tell how its map does: {why}", hint=HINT
            ) from error
        if stats is None:
            raise LanewrightError(
                f"the server on port {port} has all experts resident, and so no map", hint=HINT
            )
        return stats

    return read


def _first_worker(port: int) -> object:
    body = {"method": "expert_bank_stats"}
    answer = post(port, "/collective_rpc", body, seconds=SECONDS).get("results")
    if not isinstance(answer, list) or not answer:
        raise RefusedError("/collective_rpc answered without results")
    return answer[0]


def age(stats: Mapping[str, Any]) -> float:
    """Seconds since stats were read from the banks."""
    return max(0.0, time.time() - float(stats["time"]))
