"""``lanewright usage``: read a running server's counts of expert picks."""

from typing import Any

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.series import load_series
from lanewright.serve.client import RefusedError, post
from lanewright.serve.model import recipe_hash
from lanewright.serve.usage import usage_map, write_usage
from lanewright.terminal import emit, emit_json

SECONDS = 60.0


def run(project: Project, _places: Places, arguments: Arguments) -> ExitCode:
    """Print how often each layer picked its experts, or write the usage map.

    Raises:
        LanewrightError: No such server, or one that does not count.
    """
    lane = lane_of(project, arguments)
    model = recipe_hash(load_series(project, lane).model.recipe)
    port = arguments.server_port
    try:
        answer = post(port, "/collective_rpc", {"method": "expert_bank_usage"}, seconds=SECONDS)
    except RefusedError as error:
        raise LanewrightError(
            f"the server on port {port} does not tell its usage: {error}",
            hint="start it with VLLM_SERVER_DEV_MODE=1, the lane's worker extension and"
            " --moe-usage-counter",
        ) from error
    usage: list[dict[str, Any] | None] = answer.get("results", [])
    counted = usage_map(usage)
    if not counted:
        raise LanewrightError(
            f"the server on port {port} does not count picks",
            hint="start it with --moe-usage-counter and the worker class of expert_bank",
        )
    if arguments.out:
        target = arguments.out.absolute()
        emit(str(write_usage(target, usage, model=model)))
    elif arguments.json:
        emit_json(counted)
    else:
        for layer, counts in counted.items():
            emit(f"{layer}: {_told(counts)}")
    return ExitCode.CLEAN


def _told(counts: list[int]) -> str:
    """Tell a layer's picks: how many, and the expert that got most of them."""
    picks, most = sum(counts), max(counts)
    unused = counts.count(0)
    share = f"{most / picks:.1%} by expert {counts.index(most)}" if picks else "none yet"
    return f"{picks} picks of {len(counts)} experts, {share}; {unused} never picked"
