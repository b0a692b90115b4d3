"""A dry run of two banks, for people and as values."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from expert_bank.fits import device_terms, host_terms, plan_lines
from expert_bank.plan import Plan
from expert_bank.remedy import fits
from expert_bank.sizes import parse_size, told
from expert_bank.staging.lines import stage_lines, step_line
from expert_bank.staging.room import StageRoom
from expert_bank.staging.threshold import NEVER, null_share
from lanewright.residency.dry_run import DryRun
from lanewright.residency.graphs import MOST
from lanewright.serve.features import STAGE

# In GB/s, as links are told.
GB = 10**9


def lines(found: DryRun) -> Iterator[str]:
    """Tell a plan as a start would, and what of it a start measures."""
    plan, machine = found.plan, found.machine
    first = plan.layers[0]
    yield (
        f"{len(plan.layers)} MoE layers of {first.experts} experts, {first.picks} a token, {told(first.row)}"
        f" each: {told(plan.all_resident)}"
    )
    yield (
        "this machine, as it is now"
        if machine is None
        else f"a machine with {machine.device} of device memory and {machine.host} of host memory"
    )
    yield from plan_lines(plan)
    yield f"hot experts {told(plan.hot_bank)}, cold experts {told(found.cold_bytes)}"
    tables = plan.tables + plan.stage_tables + plan.counts
    yield f"tables and counts {told(tables)} of the device"
    if machine is not None and machine.other is None:
        yield "weights that are no experts are not in it: say [machine] other, or --other"
    if times := _link_facts(found):
        yield (
            f"over the link, at {times['gb_per_second']:g} GB/s: a row {times['row'] * 1e6:.1f} us, all cold"
            f" rows of a layer {times['layer'] * 1e3:.2f} ms, a staged step {times['step'] * 1e3:.0f} ms"
        )
    for spec, room in {**found.rooms, **({} if found.room is None else {"": found.room})}.items():
        yield f"with {STAGE} {spec}:" if spec else f"with {STAGE} as asked for:"
        yield from (f"  {line}" for line in _stage_lines(found, room))


def facts(found: DryRun) -> dict[str, Any]:
    """Give a plan as values that JSON can carry; sizes in bytes."""
    plan, pool = found.plan, _pool(found)
    uniform = null_share(found.layers, plan.layers[0].experts)
    return {
        "schema": 1,
        "fits": fits(plan),
        "remedy": found.remedy,
        "hot_rows": list(plan.hot),
        "cold_rows": list(plan.cold),
        "mode": plan.mode,
        "hot_bank": plan.hot_bank,
        "cold_experts": found.cold_bytes,
        "device": {**device_terms(plan), "free": plan.free_device},
        "host": {**host_terms(plan), "free": plan.free_host},
        "null_cold_share": plan.null_cold_share,
        "staging": {spec: _room_facts(found, room) for spec, room in found.rooms.items()},
        "asked": found.room and {"stage": plan.stage, **_room_facts(found, found.room)},
        "block": found.block,
        "graph_tokens": found.replayed,
        "max_num_batched_tokens": found.most,
        # By bytes, of uniform traffic; `steps` has what else stands against it.
        "least_tokens": _least(found, uniform),
        "steps": {
            name: _step_facts(found, share)
            for name, share in (("uniform", uniform), ("cold_share", found.share))
            if share is not None
        },
        "link": _link_facts(found),
        "kv_pool": pool and {"bytes": pool, "tokens": _tokens(plan, pool)},
    }


def _room_facts(found: DryRun, room: StageRoom) -> dict[str, Any]:
    pool = _pool(found)
    return {
        "off": room.off,
        "rows": room.rows,
        "bytes": room.bytes,
        "kv_tokens": _tokens(found.plan, room.bytes),
        "kv_pool_share": pool and room.bytes / pool,
    }


def _step_facts(found: DryRun, share: float) -> dict[str, Any]:
    """The smallest step by bytes, and the smallest that is staged; None where there is none."""
    least = found.cold.least(share)
    first = None if least == NEVER else max(least, (found.replayed or 0) + 1)
    if first is not None and found.most is not None and first > found.most:
        first = None
    return {"cold_share": share, "least_tokens": _least(found, share), "staged_from": first}


def _link_facts(found: DryRun) -> dict[str, float] | None:
    """Seconds over the link: of a row, all cold rows of a layer in the mean, a staged step."""
    if found.machine is None or found.machine.link is None:
        return None
    plan, rate = found.plan, found.machine.link * GB
    return {
        "gb_per_second": found.machine.link,
        "row": plan.layers[0].row / rate,
        "layer": found.cold_bytes / len(plan.layers) / rate,
        "step": found.cold_bytes / rate,
    }


def _pool(found: DryRun) -> int | None:
    """Bytes of the KV cache as it is served today; None where that is not said."""
    return parse_size((found.machine and found.machine.kv_pool) or "")


def _stage_lines(found: DryRun, room: StageRoom) -> Iterator[str]:
    plan, uniform = found.plan, null_share(found.layers, found.plan.layers[0].experts)
    replayed, most = found.replayed or 0, found.most
    yield from stage_lines(
        room, found.cold, uniform, plan.kv_per_token, replayed=replayed, most=most
    )
    if not room.off and found.replayed is None:
        yield (
            "up to how many tokens a graph is replayed, and a step not staged, is not known: say"
            f" {MOST} in [engine], graph_tokens in [machine], or --graph-tokens"
        )
    pool = _pool(found)
    if pool and not room.off:
        tokens = _tokens(plan, pool)
        of = f", {tokens} tokens" if tokens else ""
        yield f"it takes {room.bytes / pool:.1%} of the KV cache ({told(pool)}{of})"
    if found.share is not None and not room.off:
        yield step_line(found.cold, found.share, "as asked for", replayed=replayed, most=most)
    if found.block > 1 and not room.off:
        each = replace(found, block=1)
        shares = [uniform] if found.share is None else [uniform, found.share]
        least = " and ".join(f"{_tokens_told(each, share)} at {share:.1%}" for share in shares)
        yield (
            "by bytes, with a kernel that reads a row once for each token that picked it and not for"
            f" {found.block} at a time: from {least} of picks cold on"
        )


def _tokens(plan: Plan, size: int) -> int | None:
    return None if plan.kv_per_token is None else int(Fraction(size) // plan.kv_per_token)


def _tokens_told(found: DryRun, share: float) -> str:
    return f"{_least(found, share) or 'no number of'} tokens"


def _least(found: DryRun, share: float) -> int | None:
    least = found.cold.least(share)
    return None if least == NEVER else least
