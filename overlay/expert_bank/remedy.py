# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What to change of a plan that asks for more than is free."""

from dataclasses import replace
from typing import Any

from expert_bank.cold_folder import FOLDER
from expert_bank.hot import hot_rows
from expert_bank.plan import Mode, Plan
from expert_bank.sizes import told
from expert_bank.staging.room import FIELD

MIB = 2**20


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
    # Of a file's cold rows the host has the least already.
    smallest: Mode = "file" if plan.mode == "file" else "exclusive"
    short = _short(plan, on_cpu=on_cpu)
    if not short:
        rows, most = _most_hot(plan, on_cpu=on_cpu)
        tries = {
            f"set {rows}": most,
            f"set moe_cold_rows {smallest}": _with(plan, on_cpu=on_cpu, mode=smallest),
            f"set moe_cold_rows {smallest} and {rows}": _with(most, on_cpu=on_cpu, mode=smallest),
        }
        for text, other in tries.items():
            if fits(other):
                return text
    if on_cpu and (text := _in_a_file(plan)):
        return text
    if short:
        fewer = (
            f", or take {FIELD} out" if not _short(replace(plan, stage=""), on_cpu=on_cpu) else ""
        )
        return f"the device is {told(short)} short without any hot row: free as much of it{fewer}"
    least = _with(most, on_cpu=on_cpu, mode=smallest)
    return (
        f"the host is {told(least.host_peak - least.free_host)} short with as many rows hot as the"
        f" device takes, and moe_cold_rows {smallest}: free as much of it"
    )


def _in_a_file(plan: Plan) -> str:
    """Say how it fits with cold rows in a file, the host being the device; empty where it does not."""
    filed = _with(plan, on_cpu=True, mode="file", stage="")
    # What its folder has left is not known before the file is asked for.
    filed = replace(filed, free_file=filed.file)
    where = f" (a folder on a disk with {told(filed.file)} left in {FOLDER})"
    where += f", take {FIELD} out" if plan.stage else ""
    if fits(filed):
        return f"set moe_cold_rows file{where}"
    if not _short(filed, on_cpu=True):
        rows, most = _most_hot(filed, on_cpu=True)
        if fits(most):
            return f"set moe_cold_rows file{where} and {rows}"
    return ""


def _with(plan: Plan, *, on_cpu: bool, **changed: Any) -> Plan:  # noqa: ANN401 - a plan's
    """Plan something else. On a CPU what is free for hot rows depends on the cold ones."""
    other = replace(plan, **changed)
    return replace(other, free_device=free_on_cpu(other)) if on_cpu else other


def _short(plan: Plan, *, on_cpu: bool) -> int:
    """Bytes that the device is short of without any hot row; 0 where it has room for that."""
    none = _with(plan, on_cpu=on_cpu, hot=(0,) * len(plan.layers))
    return max(0, none.device_peak - none.free_device)


def _most_hot(plan: Plan, *, on_cpu: bool) -> tuple[str, Plan]:
    """As many rows hot as the device takes: how to ask for it, and the plan.

    Fewer hot rows make more cold ones, and with them the staging buffer larger, by no more than what
    they free.
    """
    fitting, too_many = 0, plan.free_device // MIB + 1
    while too_many - fitting > 1:
        middle = (fitting + too_many) // 2
        tried = _fitted(plan, middle, on_cpu=on_cpu)
        fits_device = tried.device_peak <= tried.free_device
        fitting, too_many = (middle, too_many) if fits_device else (fitting, middle)
    most = _fitted(plan, fitting, on_cpu=on_cpu)
    rows = f"({sum(most.hot)} rows, {min(most.hot)} to {max(most.hot)} a layer)"
    lost = ""
    if plan.staging and not most.staging:
        lost = f", with which nothing is staged: {most.room and most.room.off}"
    # The least that so many rows fit in.
    return f"moe_hot_experts fit:{-(-most.hot_bank // MIB)}MiB {rows}{lost}", most


def _fitted(plan: Plan, size: int, *, on_cpu: bool) -> Plan:
    """Plan with as many rows hot as so many MiB have."""
    hot = hot_rows(
        f"fit:{size}MiB",
        experts=[layer.experts for layer in plan.layers],
        row_bytes=[layer.row for layer in plan.layers],
    )
    return _with(plan, on_cpu=on_cpu, hot=hot)
