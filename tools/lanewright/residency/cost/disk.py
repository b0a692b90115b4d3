"""Whether a disk can be a place that experts are read from while tokens are generated."""

from dataclasses import dataclass

from expert_bank.sizes import parse_size
from lanewright.queue.series_machine import MachineSpec
from lanewright.residency.cost.model import Model
from lanewright.residency.cost.tiers import GB

# Of a step: what a token's cold reads may take of it before they are its main part.
TENTH = 0.1


@dataclass(frozen=True)
class Disk:
    """What a disk is good for.

    Attributes:
        experts: Bytes of all experts.
        room: Bytes of experts that the hot bank and host memory have room for together.
        needed: Whether the experts are more than that, so that some must be on a disk.
        gb_per_second: That a disk would have to read for a token's cold bytes at the smallest share to
            take a tenth of a step; None where no step is said.
    """

    experts: int
    room: int
    needed: bool
    gb_per_second: float | None


def disk(model: Model, machine: MachineSpec, token_bytes: float, step: float | None) -> Disk:
    """Judge a disk.

    Args:
        model: Whose experts they are.
        machine: Its host memory.
        token_bytes: A token's cold bytes, with the best map.
        step: Seconds of a step of one user; None where that is not said.
    """
    room = model.hot_bytes + (parse_size(machine.host) or 0)
    return Disk(
        experts=model.bytes,
        room=room,
        needed=model.bytes > room,
        gb_per_second=None if step is None else token_bytes / (TENTH * step) / GB,
    )
