"""Stated figures held against what is computed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

from lanewright.errors import LanewrightError
from lanewright.residency.cost.figures import UNITS, Figure, Figures, read_stated


@dataclass(frozen=True)
class Compared:
    """A figure beside what is computed.

    Attributes:
        place: Where it was stated.
        says: Of what.
        stated: The text.
        computed: In the same unit, one number, or two from and to.
        unit: It.
        difference: Of the computed value from the stated one, as a share: of the end that is further
            off where both are ranges, of the middle where one is.
        reproduced: Whether the computed value, rounded as the stated one is, is the stated one.
        why: Why not.
    """

    place: str
    says: str
    stated: str
    computed: list[float]
    unit: str
    difference: float
    reproduced: bool
    why: str


def compare(figures: Figures, facts: Mapping[str, Any], file: Path) -> list[Compared]:
    """Hold each figure against the computed facts.

    Args:
        figures: As stated.
        facts: As ``--json`` has them.
        file: For messages.

    Raises:
        LanewrightError: Nothing is computed where a figure says it is.
    """
    return [_compared(each, _found(each, facts, file)) for each in figures.figure]


def _compared(figure: Figure, values: Sequence[float]) -> Compared:
    read = read_stated(figure.stated)
    assert read is not None  # noqa: S101 - a file of figures was looked through when it was read
    stated, unit, to = read
    to = to if figure.to is None else Decimal(figure.to)
    computed = [Decimal(repr(each)) / UNITS[unit] for each in values]
    rounded = [_rounded(each, to) for each in computed]
    if len(stated) == len(computed):
        same = rounded == stated
        differences = [a / b - 1 if b else a for a, b in zip(computed, stated, strict=True)]
    else:
        # One number for a range, on either side: it must lie there.
        same = min(rounded) <= max(stated) and min(stated) <= max(rounded)
        differences = [_middle(computed) / _middle(stated) - 1]
    return Compared(
        place=figure.place,
        says=figure.says,
        stated=figure.stated,
        computed=[float(each) for each in computed],
        unit=unit,
        difference=float(max(differences, key=abs)),
        reproduced=same,
        why="" if same else figure.why,
    )


def _rounded(value: Decimal, to: Decimal) -> Decimal:
    return (value / to).quantize(Decimal(1), rounding=ROUND_HALF_UP) * to


def _middle(values: Sequence[Decimal]) -> Decimal:
    return sum(values, Decimal(0)) / len(values)


def _found(figure: Figure, facts: Mapping[str, Any], file: Path) -> list[float]:
    place: Any = facts
    for key in figure.of:
        place = place.get(key) if isinstance(place, Mapping) else None
    values = place if isinstance(place, Sequence) and not isinstance(place, str) else [place]
    if not values or any(
        isinstance(each, bool) or not isinstance(each, int | float) for each in values
    ):
        raise LanewrightError(
            f"{file}: {figure.says!r}: nothing is computed at {' / '.join(figure.of)}",
            hint="look for its keys in what --json prints for this lane and machine",
        )
    return list(values)
