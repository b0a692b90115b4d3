"""``[model.experts]`` and ``[machine]`` of a series: what a plan is made of where neither is here."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Annotated, Any

import msgspec

from expert_bank.sizes import parse_size
from lanewright.errors import LanewrightError

# Each is planned by itself.
Layers = Annotated[int, msgspec.Meta(ge=1, le=10_000)]
Count = Annotated[int, msgspec.Meta(ge=1)]
Tokens = Annotated[int, msgspec.Meta(ge=0, le=2**24)]
Above = Annotated[float, msgspec.Meta(gt=0)]


class ExpertsSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """``[model.experts]``: the routed experts of a model, all layers alike.

    Attributes:
        layers: MoE layers.
        experts: Of each.
        picks: Experts that a token gets.
        row: Size of one expert, all its tensors together: ``17.92MiB``.
        plain: Whether its weights are not quantized, which another kernel runs.
    """

    layers: Layers
    experts: Count
    picks: Count
    row: str
    plain: bool = False


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
        graph_tokens: Tokens up to which the engine replays a step from a graph there, where its
            arguments do not say it; 0 where it replays none.
        page: Size of a page of host memory; this machine's where it is not said.
        hbm: GB/s of device memory.
        nvme: GB/s at which the disk that a model would be read from is read, at worst and at best.
        l2: Size of the device's last cache.
    """

    device: str
    host: str
    link: Above | None = None
    kv_tokens: Above | None = None
    kv_pool: str | None = None
    other: str | None = None
    pinned: str | None = None
    graph_tokens: Tokens | None = None
    page: str | None = None
    hbm: Above | None = None
    nvme: tuple[Above, Above] | None = None
    l2: str | None = None

    @property
    def kv_per_token(self) -> Fraction | None:
        """Bytes of a token in the KV cache."""
        return None if self.kv_tokens is None else Fraction(2**30) / Fraction(str(self.kv_tokens))


SIZES = ("device", "host", "kv_pool", "other", "pinned", "page", "l2")
NUMBERS = ("link", "kv_tokens", "hbm", "nvme")
# Beyond them a number is a mistake, or infinite.
LEAST, MOST = 1e-6, 1e12


def check_machine(machine: MachineSpec | None, experts: ExpertsSpec | None, place: str) -> None:
    """Check what types alone do not say.

    Raises:
        LanewrightError: A size is none, a number is of no machine, or a token gets more experts than a
            layer has.
    """
    sizes = {f"[machine] {name}": text for name, text in _given(machine, SIZES)}
    for name, given in _given(machine, NUMBERS):
        numbers = given if isinstance(given, tuple) else (given,)
        for number in numbers:
            if not LEAST <= number <= MOST:
                raise LanewrightError(
                    f"{place}: [machine] {name} is {number:g}, and must be from {LEAST:g} to {MOST:g}"
                )
        if list(numbers) != sorted(numbers):
            raise LanewrightError(
                f"{place}: [machine] {name} is [{numbers[0]:g}, {numbers[1]:g}], the larger one first",
                hint="write what it is at worst, then what it is at best",
            )
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


def _given(machine: MachineSpec | None, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for name in names:
        if (value := getattr(machine, name, None)) is not None:
            yield name, value
