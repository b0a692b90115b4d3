"""A plan of two banks without the machine that it is for: the same arithmetic as at a start."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, get_args

from expert_bank.fits import device_terms, host_terms, plan_lines
from expert_bank.host_budget import host_budget
from expert_bank.hot import hot_rows
from expert_bank.pages import page_bytes
from expert_bank.plan import Mode, Plan
from expert_bank.refused import Refused
from expert_bank.remedy import fits, free_on_cpu, remedy
from expert_bank.sizes import parse_size, told
from expert_bank.staging.lines import stage_lines
from expert_bank.staging.room import StageRoom, require_stageable, stage_room
from expert_bank.staging.threshold import NEVER, Cold, null_share
from lanewright.errors import LanewrightError
from lanewright.queue.series import Series
from lanewright.queue.series_machine import MachineSpec
from lanewright.residency.shapes import kv_per_token, layer_shapes

# What a start takes for FlashInfer's TRT-LLM kernels: a thread block for each 8 tokens of an expert.
CUDA_BLOCK = 8
HOT, MODE, STAGE = "moe_hot_experts", "moe_cold_rows", "moe_prefill_stage"
# In GB/s, as links are told.
GB = 10**9


@dataclass(frozen=True)
class DryRun:
    """A plan, and what it was made of.

    Attributes:
        plan: Of the two banks.
        machine: What it is for; None for this one.
        room: Of the staging buffer that is asked for; None where none is.
        rooms: By what asks for it, the buffers that could be.
        share: Share of cold picks that the lines are told for, beside uniform traffic's.
        block: Tokens of one expert that share a read of its row, by the kernel that is to run.
    """

    plan: Plan
    machine: MachineSpec | None
    room: StageRoom | None
    rooms: dict[str, StageRoom]
    share: float | None
    block: int = 1

    @property
    def on_cpu(self) -> bool:
        """Whether the device is the host."""
        return self.machine is None

    @property
    def remedy(self) -> str:
        """What to change; empty where all fits."""
        return "" if fits(self.plan) else remedy(self.plan, on_cpu=self.on_cpu)

    @property
    def cold(self) -> Cold:
        """What cold reads follow from."""
        plan = self.plan
        return Cold.of(self.layers, plan.layers[0].picks, self.block)

    @property
    def layers(self) -> list[int]:
        """Cold experts of each layer."""
        plan = self.plan
        return [each.experts - rows for each, rows in zip(plan.layers, plan.hot, strict=True)]

    @property
    def cold_bytes(self) -> int:
        """Rows of all cold experts, once."""
        return sum(
            each.row * rows for each, rows in zip(self.plan.layers, self.layers, strict=True)
        )


def dry_run(series: Series, lane: str, engine: dict[str, Any], share: float | None) -> DryRun:
    """Plan a lane's two banks.

    Args:
        series: The lane's; its machine is this one where none is named.
        lane: Its name.
        engine: Engine arguments: those of the series, or others.
        share: See ``DryRun``.

    Raises:
        LanewrightError: Nothing is in two banks, or what is asked for cannot be read.
    """
    if not engine.get(HOT):
        raise LanewrightError(
            f"lane {lane} has all experts resident, and there is nothing to plan",
            hint=f"set {HOT} in its [engine], or give --hot",
        )
    if (mode := engine.get(MODE, "mirror")) not in get_args(Mode):
        raise LanewrightError(
            f"lane {lane}: {MODE} is {mode!r}, and must be one of {', '.join(get_args(Mode))}"
        )
    shapes = layer_shapes(series, lane)
    try:
        hot = hot_rows(
            str(engine[HOT]),
            experts=[each.experts for each in shapes],
            row_bytes=[each.row for each in shapes],
        )
        cold = [each.experts - rows for each, rows in zip(shapes, hot, strict=True)]
        sizes = [each.row for each in shapes]
        asked = str(engine.get(STAGE) or "")
        require_stageable(asked, mode)
        # Out of a file nothing is staged.
        specs = () if mode == "file" else ("1", "2")
        rooms = {spec: stage_room(spec, cold=cold, row_bytes=sizes) for spec in specs}
        room = stage_room(asked, cold=cold, row_bytes=sizes) if asked else None
        found = Plan(
            layers=shapes,
            hot=hot,
            mode=mode,
            page=page_bytes(),
            staging=0 if room is None else room.bytes,
            other=0,
            free_device=0,
            free_host=0,
            kv_per_token=kv_per_token(series),
        )
        plan = _on(found, series.machine)
    except Refused as error:
        raise LanewrightError(error.message, hint=error.hint) from error
    return DryRun(
        plan, series.machine, room, rooms, share, CUDA_BLOCK if series.device == "cuda" else 1
    )


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
    yield f"tables and counts {told(plan.tables + plan.counts)} of the device"
    if machine is not None and machine.other is None:
        yield "weights that are no experts are not in it: say [machine] other, or --other"
    if machine is not None and machine.link:
        yield from _link_lines(found, machine.link)
    for spec, room in {**found.rooms, **({} if found.room is None else {"": found.room})}.items():
        yield f"with {STAGE} {spec}:" if spec else f"with {STAGE} as asked for:"
        yield from (f"  {line}" for line in _stage_lines(found, room))


def facts(found: DryRun) -> dict[str, Any]:
    """Give a plan as values that JSON can carry; sizes in bytes."""
    plan = found.plan
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
        "staging": {
            spec: {
                "off": room.off,
                "rows": room.rows,
                "bytes": room.bytes,
                "kv_tokens": _tokens(plan, room.bytes),
            }
            for spec, room in found.rooms.items()
        },
        "block": found.block,
        "least_tokens": _least(found, null_share(found.layers, plan.layers[0].experts)),
    }


def _on(plan: Plan, machine: MachineSpec | None) -> Plan:
    """Say what is free on a machine: without one, what this one has left."""
    if machine is None:
        found = replace(plan, free_host=max(0, host_budget().left), free_file=plan.file)
        return replace(found, free_device=free_on_cpu(found))
    sizes = {
        name: parse_size(getattr(machine, name) or "0KiB") or 0
        for name in ("device", "host", "other", "pinned")
    }
    return replace(
        plan,
        other=sizes["other"],
        free_device=sizes["device"],
        free_host=sizes["host"],
        tables_on_host=sizes["pinned"],
        # Which disk it goes to is not known.
        free_file=plan.file,
    )


def _link_lines(found: DryRun, link: float) -> Iterator[str]:
    plan = found.plan
    row, layers = plan.layers[0].row, len(plan.layers)
    yield (
        f"over the link, at {link:g} GB/s: a row {row / link / GB * 1e6:.1f} us, all cold rows of a layer"
        f" {found.cold_bytes / layers / link / GB * 1e3:.2f} ms, a staged step"
        f" {found.cold_bytes / link / GB * 1e3:.0f} ms"
    )


def _stage_lines(found: DryRun, room: StageRoom) -> Iterator[str]:
    plan, uniform = found.plan, null_share(found.layers, found.plan.layers[0].experts)
    yield from stage_lines(room, found.cold, uniform, plan.kv_per_token)
    pool = parse_size((found.machine and found.machine.kv_pool) or "")
    if pool and not room.off:
        tokens = _tokens(plan, pool)
        of = f", which is {tokens} tokens" if tokens else ""
        yield f"{room.bytes / pool:.1%} of a KV cache of {told(pool)}{of}"
    if found.share is not None and not room.off:
        yield f"at {found.share:.1%} of picks cold from {_tokens_told(found, found.share)} on"
    if found.block > 1 and not room.off:
        each = replace(found, block=1)
        shares = uniform if found.share is None else found.share
        yield (
            f"were each pick a read of its row: from {_tokens_told(each, uniform)} on"
            + (f", and from {_tokens_told(each, shares)} on" if found.share is not None else "")
        )


def _tokens(plan: Plan, size: int) -> int | None:
    return None if plan.kv_per_token is None else int(Fraction(size) // plan.kv_per_token)


def _tokens_told(found: DryRun, share: float) -> str:
    return f"{_least(found, share) or 'no number of'} tokens"


def _least(found: DryRun, share: float) -> int | None:
    least = found.cold.least(share)
    return None if least == NEVER else least
