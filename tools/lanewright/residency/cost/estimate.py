"""All of it, for one lane on one machine."""

from collections.abc import Sequence
from dataclasses import dataclass

from expert_bank.sizes import parse_size
from lanewright.errors import LanewrightError
from lanewright.residency.cost.cache import Cache, cache
from lanewright.residency.cost.cold_reads import TokenReads, token_reads
from lanewright.residency.cost.copies import Copies, copies
from lanewright.residency.cost.counters import Counting, counting
from lanewright.residency.cost.disk import Disk, disk
from lanewright.residency.cost.fit import Fit, fit
from lanewright.residency.cost.machine_file import MachineFile
from lanewright.residency.cost.model import Model
from lanewright.residency.cost.slots import Slots, slots
from lanewright.residency.cost.step_reads import Reading, StepReads, step_reads
from lanewright.residency.cost.tiers import Tiers, tiers


@dataclass(frozen=True)
class Asked:
    """What is asked for.

    Attributes:
        shares: Of picks that are cold, by name.
        users: At once.
        tokens: Of one user that a step computes; None where the fit is to say it, or one.
        overlap: Share of the time over the link that is hidden.
        skew: Of picks among cold experts.
        slots: Of each layer, for copies.
        budget: Bytes that a barrier may copy.
        moved: Rows that cross the link in a swap.
    """

    shares: dict[str, float]
    users: Sequence[int] = ()
    tokens: float | None = None
    overlap: float = 0.0
    skew: float = 0.0
    slots: int = 3
    budget: int = 64 * 2**20
    moved: int = 1


@dataclass(frozen=True)
class Estimate:
    """What cold experts cost.

    Attributes:
        model: Whose they are.
        chance: What a guess at random gets right of a layer's picks.
        machine: What they are on.
        tiers: A row from each place.
        token: Cold reads of a token, by share.
        reading: What the cold reads of a step follow from.
        tokens_from: Where its tokens are from: ``given``, ``fitted``, ``one``.
        steps: Cold reads of a step, by share and users.
        slots: What slots take.
        copies: What copies take.
        cache: Cold bytes of a layer against the last cache; None where its size is not said.
        disk: What a disk is good for; None where it is not described.
        fit: Held against measurements; None where there are none.
        counter: What counting costs, by tokens of a step.
    """

    model: Model
    chance: float
    machine: MachineFile
    tiers: Tiers
    token: dict[str, TokenReads]
    reading: Reading
    tokens_from: str
    steps: dict[str, dict[int, StepReads]]
    slots: Slots
    copies: Copies
    cache: Cache | None
    disk: Disk | None
    fit: Fit | None
    counter: dict[int, Counting]


def estimate(model: Model, machine: MachineFile, asked: Asked, place: str) -> Estimate:
    """Estimate what cold experts cost.

    Args:
        model: Whose they are.
        machine: What they are on.
        asked: See there.
        place: Where the machine is described, for messages.

    Raises:
        LanewrightError: The link's speed is not said.
    """
    spec = machine.machine
    if spec.link is None:
        raise LanewrightError(
            f"{place}: [machine] has no link, and without its speed nothing of a cold read is known",
            hint="say the GB/s at which the device reads host memory in place: link = 340.0",
        )
    one = machine.step_seconds.get(1)
    found = tiers(model, spec, spec.link)
    token = token_reads(model, spec, asked.shares, found.link_row, one)
    given = asked.tokens and Reading(asked.tokens, asked.overlap, asked.skew)
    held = (
        fit(model, machine.anchors, one, found.link_row, given or None)
        if machine.anchors and one
        else None
    )
    tokens, source = _tokens(asked, held)
    reading = Reading(tokens, asked.overlap, asked.skew)
    least = min((each.bytes for each in token.values()), default=0.0)
    size = parse_size(spec.l2) if spec.l2 else None
    return Estimate(
        model=model,
        chance=model.picks / model.experts,
        machine=machine,
        tiers=found,
        token=token,
        reading=reading,
        tokens_from=source,
        steps={
            name: {
                users: step_reads(
                    model, reading, users, share, found.link_row, _step(machine, held, users)
                )
                for users in _users(asked, machine)
            }
            for name, share in asked.shares.items()
        },
        slots=slots(model, spec, asked.slots),
        copies=copies(model, spec, spec.link, asked.budget, asked.moved),
        cache=cache(model, reading, asked.shares, size) if size else None,
        disk=disk(model, spec, least, one) if spec.nvme else None,
        fit=held,
        counter=counting(model, machine.counter, one),
    )


def _tokens(asked: Asked, held: Fit | None) -> tuple[float, str]:
    if asked.tokens is not None:
        return asked.tokens, "given"
    if held is not None and held.tokens is not None:
        return held.tokens, "fitted"
    return 1.0, "one"


def _users(asked: Asked, machine: MachineFile) -> list[int]:
    known = {*machine.steps, *(machine.anchors.speeds if machine.anchors else ())}
    return sorted(set(asked.users) or known or {1})


def _step(machine: MachineFile, held: Fit | None, users: int) -> float | None:
    """Seconds of a step: as said, or as a speed says."""
    if (said := machine.step_seconds.get(users)) is not None:
        return said
    measured = held.measured.get(users) if held else None
    return measured.after_step if measured else None
