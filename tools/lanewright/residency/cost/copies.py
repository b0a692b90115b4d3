"""When a copy beats reads in place, and how fast rows can change places."""

import math
from dataclasses import dataclass

from lanewright.queue.series_machine import MachineSpec
from lanewright.residency.cost.model import Model
from lanewright.residency.cost.tiers import GB

# int32 of each expert.
COUNT_BYTES = 4


@dataclass(frozen=True)
class Copies:
    """Copying rows over the link.

    Attributes:
        break_even_reads: Reads from which on one copy, and reading it in device memory, takes less than
            reading in place as often; None where device memory's speed is not said, or is no higher.
        reads: The first whole number of reads that pays.
        rows_per_second: That the link brings.
        bank_seconds: Until the whole cold bank has come over.
        budget: Bytes that a barrier may copy.
        swaps: Of a barrier: the one that runs past the budget is the last.
        barrier_seconds: That they take over the link.
        counts_bytes: Of the table of counts that is read at a barrier.
    """

    break_even_reads: float | None
    reads: int | None
    rows_per_second: float
    bank_seconds: float
    budget: int
    swaps: int
    barrier_seconds: float
    counts_bytes: int


def copies(model: Model, machine: MachineSpec, link: float, budget: int, moved: int) -> Copies:
    """Price copies.

    Args:
        model: Whose rows they are of.
        machine: Its device memory.
        link: GB/s of the link.
        budget: Bytes that a barrier may copy.
        moved: Rows that cross the link in a swap: one with a mirror in host memory, two without.
    """
    hbm, row = machine.hbm, model.row
    reads = None if hbm is None or hbm <= link else hbm / (hbm - link)
    swaps = -(-budget // (moved * row))
    return Copies(
        break_even_reads=reads,
        reads=None if reads is None else math.floor(reads) + 1,
        rows_per_second=link * GB / row,
        bank_seconds=model.cold_bytes / (link * GB),
        budget=budget,
        swaps=swaps,
        barrier_seconds=swaps * moved * row / (link * GB),
        counts_bytes=model.layers * model.experts * COUNT_BYTES,
    )
