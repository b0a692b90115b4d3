"""``[model.experts]`` and ``[machine]`` of a series: what a plan is made of where neither is here."""

from fractions import Fraction
from typing import Annotated

import msgspec

from expert_bank.sizes import parse_size
from lanewright.errors import LanewrightError

Count = Annotated[int, msgspec.Meta(ge=1)]
Above = Annotated[float, msgspec.Meta(gt=0)]


class ExpertsSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """``[model.experts]``: the routed experts of a model, all layers alike.

    Attributes:
        layers: MoE layers.
        experts: Of each.
        picks: Experts that a token gets.
        row: Size of one expert, all its tensors together: ``17.92MiB``.
    """

    layers: Count
    experts: Count
    picks: Count
    row: str


class MachineSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """``[machine]``: what there is for weights and cache.

    Attributes:
        device: Device memory, as a size.
        host: Host memory, as a size.
        link: GB/s at which the device reads host memory in place.
        kv_tokens: Tokens of KV cache in a GiB.
        kv_pool: Size of the KV cache as it is served today.
        other: Size of the weights that are no experts.
        pinned: Host memory that others pin: a model's own tables, a loader's buffers.
    """

    device: str
    host: str
    link: Above | None = None
    kv_tokens: Above | None = None
    kv_pool: str | None = None
    other: str | None = None
    pinned: str | None = None

    @property
    def kv_per_token(self) -> Fraction | None:
        """Bytes of a token in the KV cache."""
        return None if self.kv_tokens is None else Fraction(2**30) / Fraction(str(self.kv_tokens))


SIZES = ("device", "host", "kv_pool", "other", "pinned")


def check_machine(machine: MachineSpec | None, experts: ExpertsSpec | None, place: str) -> None:
    """Check what types alone do not say.

    Raises:
        LanewrightError: A size is none, or a token gets more experts than a layer has.
    """
    given = {} if machine is None else {name: getattr(machine, name) for name in SIZES}
    sizes = {f"[machine] {name}": text for name, text in given.items() if text is not None}
    if experts is not None:
        sizes["[model.experts] row"] = experts.row
        if experts.picks > experts.experts:
            raise LanewrightError(
                f"{place}: [model.experts] picks: {experts.picks} of {experts.experts} experts"
            )
    for name, text in sizes.items():
        if not parse_size(text):
            raise LanewrightError(
                f"{place}: {name} is {text!r}, which is no size above 0",
                hint="write 250.7GiB (KiB, MiB or GiB)",
            )
