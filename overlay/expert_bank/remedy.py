# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What to change of a plan that asks for more than is free."""

from dataclasses import replace

from expert_bank.cold_folder import FOLDER
from expert_bank.hot import hot_rows
from expert_bank.plan import Mode, Plan
from expert_bank.sizes import told


def fits(plan: Plan) -> bool:
    """Tell whether neither memory, nor a file's folder, is asked for more than is free."""
    return (
        plan.device_peak <= plan.free_device
        and plan.host_peak <= plan.free_host
        and plan.file <= plan.free_file
    )


def free_on_cpu(plan: Plan) -> int:
    """Bytes left for hot rows and all else where the device is the host.

    What the cold rows take is not there for the hot ones. A layer is gathered where it is repacked, and
    counted there; others that wait with it take more.
    """
    waiting = plan.gathered - replace(plan, waiting=1).gathered
    return max(0, plan.free_host - plan.cold_bank - waiting - plan.loader)


def remedy(plan: Plan, *, on_cpu: bool) -> str:
    """Find what fits both memories; the nearest to what was asked for.

    Args:
        plan: That does not fit.
        on_cpu: See ``fits.require_fits``.
    """
    if plan.file > plan.free_file:
        return f"name a folder on a disk with {told(plan.file)} left in {FOLDER}"
    if plan.waiting > 1 and fits(replace(plan, waiting=1)):
        return "load from a checkpoint that has each layer's weights together"
    room = _room(plan)
    # Of a file's cold rows the host has the least already.
    smallest: Mode = "file" if plan.mode == "file" else "exclusive"
    if room >= 0:
        rows, most = _most_hot(plan)
        tries = {
            f"set {rows}": most,
            f"set moe_cold_rows {smallest}": replace(plan, mode=smallest),
            f"set moe_cold_rows {smallest} and {rows}": replace(most, mode=smallest),
        }
        for text, other in tries.items():
            if fits(other):
                return text
    if on_cpu and (text := _in_a_file(plan)):
        return text
    if room < 0:
        smaller = " or of the staging buffer" if plan.staging >= -room else ""
        return f"the device is {told(-room)} short without any hot row: free as much of it{smaller}"
    least = replace(most, mode=smallest)
    return (
        f"the host is {told(least.host_peak - least.free_host)} short with as many rows hot as the"
        f" device takes, and moe_cold_rows {smallest}: free as much of it"
    )


def _in_a_file(plan: Plan) -> str:
    """Say how it fits with cold rows in a file, the host being the device; empty where it does not."""
    filed = replace(plan, mode="file")
    # What its folder has left is not known before the file is asked for.
    filed = replace(filed, free_device=free_on_cpu(filed), free_file=filed.file)
    where = f" (a folder on a disk with {told(filed.file)} left in {FOLDER})"
    if fits(filed):
        return f"set moe_cold_rows file{where}"
    if _room(filed) >= 0:
        rows, most = _most_hot(filed)
        if fits(most):
            return f"set moe_cold_rows file{where} and {rows}"
    return ""


def _room(plan: Plan) -> int:
    """Bytes that the device has for hot rows; below zero where it is short without any."""
    return plan.free_device - (plan.device_peak - plan.hot_bank)


def _most_hot(plan: Plan) -> tuple[str, Plan]:
    """As many rows hot as the device takes: how to ask for it, and the plan."""
    spec = f"fit:{_room(plan) // 2**20}MiB"
    most = hot_rows(
        spec,
        experts=[layer.experts for layer in plan.layers],
        row_bytes=[layer.row for layer in plan.layers],
    )
    told_rows = f"({sum(most)} rows, {min(most)} to {max(most)} a layer)"
    return f"moe_hot_experts {spec} {told_rows}", replace(plan, hot=most)
