"""A machine file: what a machine has, and what was measured of a lane on it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec

from lanewright.errors import LanewrightError
from lanewright.queue.series_machine import MachineSpec, check_machine
from lanewright.tomlfile import load

KEYS = "docs/residency.md lists the keys under “A machine file”"
# A user of a lane has a request of it in flight; nobody's lane has more.
MOST_USERS = 65_536
# Tokens of a step for one user, and those searched for.
MOST_TOKENS = 1024.0

Above = Annotated[float, msgspec.Meta(gt=0, le=1e9)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Users = Annotated[int, msgspec.Meta(ge=1, le=MOST_USERS)]


class Anchors(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[anchors]``: one lane before and after a change of its map alone.

    Attributes:
        before: Share of picks that were cold before.
        after: And after.
        speeds: By users, tokens a second of all of them together, before and after.
        tokens_most: Tokens of one user that a step computes at most; those that it accepts are the
            least.
        source: Where that is from.
        whole_layers: Whether what was cold before was all experts of some layers, and not some of each.
    """

    before: Share
    after: Share
    speeds: dict[Users, tuple[Above, Above]]
    tokens_most: Annotated[float, msgspec.Meta(ge=1, le=MOST_TOKENS)]
    source: str
    whole_layers: bool = False


class Counted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[[counter]]``: what counting picks took in all layers of a step.

    Attributes:
        tokens: Of the step.
        off: Microseconds without the counter.
        on: And with it.
    """

    tokens: Annotated[int, msgspec.Meta(ge=1)]
    off: Above
    on: Above


class MachineFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a machine has, and what was measured on it.

    Attributes:
        machine: ``[machine]``, as a series has it.
        title: One line for people.
        steps: Milliseconds of a decode step, by users.
        cold_shares: Shares of picks that are cold, by map and traffic.
        anchors: Two measurements that the arithmetic is held against.
        counter: What a counter costs, as measured.
    """

    machine: MachineSpec
    title: str = ""
    steps: dict[Users, Above] = {}
    cold_shares: dict[str, Share] = {}
    anchors: Anchors | None = None
    counter: list[Counted] = []

    @property
    def step_seconds(self) -> Mapping[int, float]:
        """Of a decode step, by users."""
        return {users: milliseconds / 1e3 for users, milliseconds in self.steps.items()}


def load_machine(file: Path) -> MachineFile:
    """Read a machine file.

    Raises:
        LanewrightError: It cannot be read, or says what cannot be.
    """
    found = load(file, MachineFile, keys=KEYS)
    check_machine(found.machine, None, str(file))
    anchors = found.anchors
    if anchors is not None:
        if anchors.after >= anchors.before:
            raise LanewrightError(
                f"{file}: [anchors] after is {anchors.after:g}, and must be below before, {anchors.before:g}"
            )
        for users, (before, after) in anchors.speeds.items():
            if after <= before:
                raise LanewrightError(
                    f"{file}: [anchors.speeds] {users} is [{before:g}, {after:g}]: a better map makes it faster",
                    hint="write tokens a second before, then after",
                )
        for key, known in (("steps", found.steps), ("anchors.speeds", anchors.speeds)):
            if 1 not in known:
                raise LanewrightError(
                    f"{file}: [{key}] has no 1, and one user is what [anchors] is fitted on"
                )
    return found
