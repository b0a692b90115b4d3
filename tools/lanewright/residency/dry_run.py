"""A plan of two banks without the machine that it is for: the same arithmetic as at a start."""

from dataclasses import dataclass, replace
from typing import Any, get_args

from expert_bank.host_budget import host_budget
from expert_bank.hot import hot_rows
from expert_bank.pages import page_bytes
from expert_bank.plan import Mode, Plan
from expert_bank.refused import Refused
from expert_bank.remedy import fits, free_on_cpu, remedy
from expert_bank.sizes import parse_size
from expert_bank.staging.room import StageRoom, require_stageable, stage_room
from expert_bank.staging.threshold import Cold
from lanewright.errors import LanewrightError
from lanewright.queue.series import Series
from lanewright.queue.series_machine import MachineSpec
from lanewright.residency.graphs import STEP, graph_tokens, tokens
from lanewright.residency.shapes import kv_per_token, layer_shapes, plain_weights
from lanewright.serve.features import BANKS, STAGE, require_kinds

# What a start takes: FlashInfer's TRT-LLM kernels have a thread block for each 8 tokens of an
# expert, our own kernel, which runs weights that are not quantized, one for each 16.
QUANTIZED_BLOCK, PLAIN_BLOCK = 8, 16
MODE = "moe_cold_rows"


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
        replayed: Tokens up to which a step is replayed from a graph; None where that is not known.
        most: Tokens that a step has at most; None where that is not known.
    """

    plan: Plan
    machine: MachineSpec | None
    room: StageRoom | None
    rooms: dict[str, StageRoom]
    share: float | None
    block: int = 1
    replayed: int | None = 0
    most: int | None = None

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
    require_kinds(engine)
    if not engine.get(BANKS):
        raise LanewrightError(
            f"lane {lane} has no two banks ({BANKS}), and there is nothing to plan",
            hint=f"set {BANKS} in its [engine], or give --hot",
        )
    if (mode := engine.get(MODE, "mirror")) not in get_args(Mode):
        raise LanewrightError(
            f"lane {lane}: {MODE} is {mode!r}, and must be one of {', '.join(get_args(Mode))}"
        )
    shapes = layer_shapes(series, lane)
    try:
        hot = hot_rows(
            engine[BANKS],
            experts=[each.experts for each in shapes],
            row_bytes=[each.row for each in shapes],
        )
        cold = [each.experts - rows for each, rows in zip(shapes, hot, strict=True)]
        sizes = [each.row for each in shapes]
        asked = engine.get(STAGE, "")
        require_stageable(asked, mode)
        # Out of a file nothing is staged.
        specs = () if mode == "file" else ("1", "2")
        rooms = {spec: stage_room(spec, cold=cold, row_bytes=sizes) for spec in specs}
        found = Plan(
            layers=shapes,
            hot=hot,
            mode=mode,
            page=page_bytes(),
            other=0,
            free_device=0,
            free_host=0,
            kv_per_token=kv_per_token(series),
            stage=asked,
        )
        room = found.room
        plan = _on(found, series.machine)
    except Refused as error:
        raise LanewrightError(error.message, hint=error.hint) from error
    return DryRun(
        plan,
        series.machine,
        room,
        rooms,
        share,
        _block(series),
        graph_tokens(series, engine),
        tokens(engine, STEP),
    )


def _block(series: Series) -> int:
    if series.device == "cpu":
        return 1
    return PLAIN_BLOCK if plain_weights(series) else QUANTIZED_BLOCK


def _on(plan: Plan, machine: MachineSpec | None) -> Plan:
    """Say what is free on a machine: without one, what this one has left."""
    if machine is None:
        found = replace(plan, free_host=max(0, host_budget().left), free_file=plan.file)
        return replace(found, free_device=free_on_cpu(found))
    sizes = {
        name: parse_size(getattr(machine, name) or "0KiB") or 0
        for name in ("device", "host", "other", "pinned", "page")
    }
    return replace(
        plan,
        other=sizes["other"],
        free_device=sizes["device"],
        free_host=sizes["host"],
        page=sizes["page"] or plan.page,
        tables_on_host=sizes["pinned"],
        # Which disk it goes to is not known.
        free_file=plan.file,
    )
