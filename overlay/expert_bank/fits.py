# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""A plan in words, and the refusal of one that does not fit."""

from collections.abc import Iterator, Mapping

from expert_bank.plan import Plan
from expert_bank.refused import Refused
from expert_bank.remedy import fits, remedy
from expert_bank.sizes import told


def device_terms(plan: Plan) -> dict[str, int]:
    """Bytes of each thing that makes up ``plan.device_peak``."""
    return {
        "hot bank": plan.hot_bank,
        "one layer raw and repacked, while loading": plan.load_layer,
        "other weights": plan.other,
        "staging buffer": plan.staging,
        "tables": plan.tables,
        "tables of staged layers": plan.stage_tables,
        "counts": plan.counts,
    }


def host_terms(plan: Plan) -> dict[str, int]:
    """Bytes of each thing that makes up ``plan.host_peak``."""
    cold = "one layer's cold rows, on their way into the file"
    return {
        cold if plan.mode == "file" else f"cold bank, {plan.mode}": plan.cold_bank,
        f"{_layers(plan.waiting)} raw, while loading": plan.gathered,
        "other tables of the model": plan.tables_on_host,
        "files that the loader reads whole, while loading": plan.loader,
    }


def plan_lines(plan: Plan) -> list[str]:
    """Tell a plan: each term, what is left, and what the share of hot experts scores by itself."""
    won = "bought" if plan.bought >= 0 else "lost"
    left = plan.free_device - plan.device
    serving = f"{told(left)} left" if left >= 0 else f"{told(-left)} short"
    return [
        (
            f"hot: {sum(plan.hot)} of {plan.experts} experts ({plan.hot_share:.1%}) in"
            f" {len(plan.layers)} layers; {sum(plan.cold)} cold rows, {plan.mode}"
        ),
        *_device_lines(plan),
        *_host_lines(plan),
        *_file_lines(plan),
        f"experts while loading: at most {told(plan.load_peak)} of the device",
        (
            f"while serving: {told(plan.device)} of the device; {serving} for KV cache, activations"
            " and graphs"
        ),
        (
            f"against all experts resident ({told(plan.all_resident)}): {told(abs(plan.bought))}"
            f" {won}{_kv_tokens(plan)}"
        ),
        f"uniform traffic: {plan.null_cold_share:.1%} of picks cold",
    ]


def _layers(count: int) -> str:
    return "one layer" if count == 1 else f"{count} layers"


def _kv_tokens(plan: Plan) -> str:
    """Tell what was won or lost in tokens; a packed cache takes more bytes for each."""
    tokens, each = plan.kv_tokens_bought, plan.kv_per_token
    if tokens is None or each is None:
        return ""
    most, more = ("at most ", " or more") if plan.kv_packed else ("", "")
    return f", {most}{abs(tokens)} tokens of KV cache at {told(round(each))}{more} each"


def require_fits(plan: Plan, *, on_cpu: bool) -> None:
    """Refuse a plan that asks for more than is free.

    Args:
        plan: Of the two banks.
        on_cpu: Whether the device is the host, which may have its cold rows in a file.

    Raises:
        Refused: With the terms of each memory that is too small, the largest first, and what to
            change.
    """
    if fits(plan):
        return
    lines = ["the two-bank does not fit"]
    if plan.device_peak > plan.free_device:
        lines += _device_lines(plan)
    if plan.host_peak > plan.free_host:
        lines += _host_lines(plan)
    if plan.file > plan.free_file:
        lines += _file_lines(plan)
    raise Refused("\n".join(lines), hint=remedy(plan, on_cpu=on_cpu))


def _device_lines(plan: Plan) -> Iterator[str]:
    yield from _sum("device", device_terms(plan), plan.free_device)


def _host_lines(plan: Plan) -> Iterator[str]:
    yield from _sum("host", host_terms(plan), plan.free_host)


def _file_lines(plan: Plan) -> Iterator[str]:
    if plan.mode == "file":
        yield from _sum("file", {"cold rows, every expert's": plan.file}, plan.free_file)
        yield f"locked in memory: {told(plan.locked)} of hot rows"


def _sum(place: str, terms: Mapping[str, int], free: int) -> Iterator[str]:
    """Tell a sum and what is free; its terms by size."""
    needed = sum(terms.values())
    rest = f"{told(needed - free)} short" if needed > free else f"{told(free - needed)} to spare"
    yield f"{place}: {told(needed)} at most, {told(free)} free: {rest}"
    for name, size in sorted(terms.items(), key=lambda term: -term[1]):
        if size:
            yield f"  {told(size):>12}  {name}"
