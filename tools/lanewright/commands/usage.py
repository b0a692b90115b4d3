"""``lanewright usage``: read a running server's counts of expert picks."""

from pathlib import Path

import msgspec

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.series import load_series
from lanewright.serve.client import NobodyError, RefusedError, post
from lanewright.serve.served import called, identity, is_named, wants_of
from lanewright.serve.usage import read_usage, usage_lines, usage_map, write_usage
from lanewright.terminal import emit, emit_json

SECONDS = 60.0


def run(project: Project, _places: Places, arguments: Arguments) -> ExitCode:
    """Print how often each layer picked its experts, or write the usage map.

    Raises:
        LanewrightError: No such server, one that does not count, or one of another model.
    """
    lane = lane_of(project, arguments)
    wants = wants_of(load_series(project, lane), lane)
    model = identity(wants)
    port = arguments.server_port
    try:
        answer = post(port, "/collective_rpc", {"method": "expert_bank_usage"}, seconds=SECONDS)
        usage = read_usage(answer.get("results"))
    except NobodyError as error:
        raise LanewrightError(
            f"{error}, so there is no server to ask", hint="start the server, or name its --port"
        ) from error
    except (RefusedError, msgspec.ValidationError) as error:
        raise LanewrightError(
            f"the server on port {port} does not tell its usage: {error}",
            hint="start it with VLLM_SERVER_DEV_MODE=1, the lane's worker extension and"
            " --moe-usage-counter or --moe-hot-experts",
        ) from error
    counted = usage_map(usage)
    if not counted:
        raise LanewrightError(
            f"the server on port {port} does not count picks",
            hint="start it with --moe-usage-counter or --moe-hot-experts, and the worker class of"
            " expert_bank",
        )
    served = {worker["model"] for worker in usage if worker}
    if not all(is_named(wants, each) for each in served):
        # Of generated models the folder's name tells which; of others the whole path may.
        if wants.spec.recipe is not None:
            served = {Path(each).name for each in served}
        raise LanewrightError(
            f"the server on port {port} serves {', '.join(sorted(served))}, and lane {lane} is"
            f" about {called(wants)}",
            hint="name the lane that the server serves, or the port of this lane's server",
        )
    if arguments.out:
        target = arguments.out.absolute()
        emit(str(write_usage(target, usage, model=model)))
    elif arguments.json:
        emit_json(counted)
    else:
        for line in usage_lines(counted):
            emit(line)
    return ExitCode.CLEAN
