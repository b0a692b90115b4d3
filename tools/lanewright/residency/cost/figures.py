"""Figures that somebody published, held against what is computed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import msgspec

from lanewright.errors import LanewrightError
from lanewright.tomlfile import load

KEYS = "docs/residency.md lists the keys under “Figures that somebody stated”"
# By what a value in base units (bytes, seconds, shares) is divided.
UNITS = {
    "": Decimal(1),
    "x": Decimal(1),
    "%": Decimal("0.01"),
    "us": Decimal("1e-6"),
    "ms": Decimal("1e-3"),
    "s": Decimal(1),
    "KB": Decimal(1000),
    "MiB": Decimal(2**20),
    "GiB": Decimal(2**30),
    "M": Decimal("1e6"),
}
_STATED = re.compile(r"([0-9.]+)(?:-([0-9.]+))? ?([A-Za-z%]*)")


class Figure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[[figure]]``: a figure as it was stated.

    Attributes:
        place: Where.
        says: Of what.
        stated: A number, or one from and to, with its unit: ``55 us``, ``1.6-1.9 ms``.
        of: Where the computed value is in ``--json``, key by key.
        to: What the stated number was rounded to, where its decimals do not tell.
        why: Why it is not reproduced, where it is not.
    """

    place: str
    says: str
    stated: str
    of: list[str]
    to: str | None = None
    why: str = ""


class NotComputed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[[not_computed]]``: a figure that follows from nothing here.

    Attributes:
        place: Where it was stated.
        says: What was.
        why: What it is.
    """

    place: str
    says: str
    why: str


class Figures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of figures.

    Attributes:
        source: Whose they are.
        figure: Those that are computed here.
        not_computed: Those that are not.
    """

    source: str
    figure: list[Figure]
    not_computed: list[NotComputed] = []


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


def load_figures(file: Path) -> Figures:
    """Read a file of figures.

    Raises:
        LanewrightError: It cannot be read, or a stated figure has no number or unit that is known.
    """
    found = load(file, Figures, keys=KEYS)
    for each in found.figure:
        if _read(each.stated) is None or (each.to is not None and _number(each.to) is None):
            raise LanewrightError(
                f"{file}: {each.says!r}: {each.stated!r} to {each.to!r} is no figure",
                hint=f"write a number and one of {', '.join(filter(None, UNITS))}: 55 us, 1.6-1.9 ms",
            )
    return found


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
    read = _read(figure.stated)
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


def _read(stated: str) -> tuple[list[Decimal], str, Decimal] | None:
    """Numbers, unit, and what they are rounded to."""
    found = _STATED.fullmatch(stated)
    if found is None or found[3] not in UNITS:
        return None
    numbers = [_number(each) for each in found.group(1, 2) if each]
    if any(each is None for each in numbers):
        return None
    known = [each for each in numbers if each is not None]
    places = max(-int(each.as_tuple().exponent) for each in known)
    return known, found[3], Decimal(1).scaleb(-places)


def _number(text: str) -> Decimal | None:
    return Decimal(text) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) else None


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
