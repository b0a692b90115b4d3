"""Cold reads of one token: its picks, each read once, with no overlap."""

from collections.abc import Mapping
from dataclasses import dataclass

from lanewright.queue.series_machine import MachineSpec
from lanewright.residency.cost.model import Model
from lanewright.residency.cost.tiers import from_disk


@dataclass(frozen=True)
class TokenReads:
    """What a token reads of cold experts.

    Attributes:
        cold_share: Of its picks.
        rows: Of all layers.
        bytes: Of them.
        seconds: Over the link.
        of_step: That, as a share of the step of one user; None where that is not said.
        above_least: How much larger that is than with the smallest share of all that were asked for.
        layer_bytes: Of one layer.
        nvme_seconds: From the disk, at best and at worst.
        nvme_of_step: That, as shares of a step.
    """

    cold_share: float
    rows: float
    bytes: float
    seconds: float
    of_step: float | None
    above_least: float | None
    layer_bytes: float
    nvme_seconds: tuple[float, float] | None
    nvme_of_step: tuple[float, float] | None


def token_reads(
    model: Model,
    machine: MachineSpec,
    shares: Mapping[str, float],
    link_row: float,
    step: float | None,
) -> dict[str, TokenReads]:
    """Price the cold picks of a token.

    Args:
        model: It has so many picks in so many layers.
        machine: Its disk.
        shares: Of picks that are cold, by name.
        link_row: Seconds of a row over the link.
        step: Seconds of a decode step of one user; None where that is not said.
    """
    least = min(shares.values(), default=0.0)
    found = {}
    for name, share in shares.items():
        rows = model.layers * model.picks * share
        disk = from_disk(rows * model.row, machine)
        found[name] = TokenReads(
            cold_share=share,
            rows=rows,
            bytes=rows * model.row,
            seconds=rows * link_row,
            of_step=step and rows * link_row / step,
            above_least=step and model.layers * model.picks * (share - least) * link_row / step,
            layer_bytes=model.picks * share * model.row,
            nvme_seconds=disk,
            nvme_of_step=(disk[0] / step, disk[1] / step) if disk and step else None,
        )
    return found
