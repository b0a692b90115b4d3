"""What slots for copies take of the KV cache."""

from dataclasses import dataclass

from expert_bank.sizes import parse_size
from lanewright.queue.series_machine import MachineSpec
from lanewright.residency.cost.model import Model


@dataclass(frozen=True)
class Slots:
    """Room for copied rows in device memory.

    Attributes:
        of_layer: Slots of each layer.
        rows: Of all layers.
        bytes: Of them.
        kv_tokens: Tokens of KV cache that would be there; None where a token's size is not said.
        pool: Bytes of the KV cache today; None where they are not said.
        pool_tokens: And its tokens.
        of_pool: What share of it the slots take.
        left_tokens: What is left of it.
    """

    of_layer: int
    rows: int
    bytes: int
    kv_tokens: float | None
    pool: int | None
    pool_tokens: float | None
    of_pool: float | None
    left_tokens: float | None


def slots(model: Model, machine: MachineSpec, of_layer: int) -> Slots:
    """Price slots.

    Args:
        model: Whose rows they hold.
        machine: Its KV cache.
        of_layer: Slots of each layer.
    """
    rows = of_layer * model.layers
    each = machine.kv_per_token
    pool = parse_size(machine.kv_pool) if machine.kv_pool else None
    tokens = None if each is None else float(rows * model.row / each)
    pooled = None if each is None or pool is None else float(pool / each)
    return Slots(
        of_layer=of_layer,
        rows=rows,
        bytes=rows * model.row,
        kv_tokens=tokens,
        pool=pool,
        pool_tokens=pooled,
        of_pool=pool and rows * model.row / pool,
        left_tokens=None if tokens is None or pooled is None else pooled - tokens,
    )
