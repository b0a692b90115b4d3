"""Where stats are read from: the file that a worker replaces, or the server itself."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from expert_bank.refused import Refused
from expert_bank.stats_file import checked, read_stats
from lanewright.errors import LanewrightError
from lanewright.serve.client import RefusedError, post

SECONDS = 60.0
PROCESSES = Path("/proc")
HINT = (
    "start it with --moe-hot-experts, VLLM_SERVER_DEV_MODE=1 and expert_bank's worker and extension"
    " classes, or read its stats file with --file; docs/visibility.md says how"
)

Stats = dict[str, Any]
# Reads the stats as they are now, of the model that is named, where one is.
Source = Callable[[str | None], Stats]


def of_file(path: Path) -> Source:
    """Read a stats file whose worker is still there."""

    def read(model: str | None) -> Stats:
        try:
            stats = read_stats(path, model=model)
        except Refused as error:
            raise LanewrightError(error.message, hint=error.hint) from error
        if not (PROCESSES / str(stats["pid"])).exists():
            raise LanewrightError(
                f"stats file {path}: the worker that wrote it, process {stats['pid']}, is gone;"
                f" it was written {age(stats):.0f} s ago",
                hint="start the server again; of one in another container ask its --port",
            )
        return stats

    return read


def of_server(port: int) -> Source:
    """Ask the server on a port; its workers count the same picks, and the first answers for all."""

    def read(model: str | None) -> Stats:
        try:
            found = _first_worker(port)
            stats = None if found is None else checked(found, model=model)
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
