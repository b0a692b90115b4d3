"""How long one expert takes from each place where it can live."""

from dataclasses import dataclass

from lanewright.queue.series_machine import MachineSpec
from lanewright.residency.cost.model import Model

# In GB/s, as links are told.
GB = 1e9


@dataclass(frozen=True)
class Tiers:
    """Seconds of one row, and of a layer.

    Attributes:
        hbm_row: Out of device memory; None where its speed is not said.
        link_row: Out of host memory, in place or copied: the link is the same.
        nvme_row: From the disk, at best and at worst; None where its speed is not said.
        nvme_rows: How many rows the link brings meanwhile, at best and at worst.
        link_layer: All experts of a layer over the link.
        nvme_layer: And from the disk.
    """

    hbm_row: float | None
    link_row: float
    nvme_row: tuple[float, float] | None
    nvme_rows: tuple[float, float] | None
    link_layer: float
    nvme_layer: tuple[float, float] | None


def tiers(model: Model, machine: MachineSpec, link: float) -> Tiers:
    """Divide bytes by speeds.

    Args:
        model: Whose row it is.
        machine: Its speeds.
        link: Of the link, in GB/s.
    """
    row = model.row / (link * GB)
    disk = from_disk(model.row, machine)
    return Tiers(
        hbm_row=None if machine.hbm is None else model.row / (machine.hbm * GB),
        link_row=row,
        nvme_row=disk,
        nvme_rows=disk and (disk[0] / row, disk[1] / row),
        link_layer=model.layer_bytes / (link * GB),
        nvme_layer=from_disk(model.layer_bytes, machine),
    )


def from_disk(size: float, machine: MachineSpec) -> tuple[float, float] | None:
    """Seconds that the disk takes for so many bytes, at best and at worst; None where that is not said."""
    if machine.nvme is None:
        return None
    worst, best = machine.nvme
    return size / (best * GB), size / (worst * GB)
