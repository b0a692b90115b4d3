"""Figures that somebody published, as a file has them."""

import re
from decimal import Decimal
from pathlib import Path

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


def load_figures(file: Path) -> Figures:
    """Read a file of figures.

    Raises:
        LanewrightError: It cannot be read, or a stated figure has no number or unit that is known.
    """
    found = load(file, Figures, keys=KEYS)
    for each in found.figure:
        if read_stated(each.stated) is None or (each.to is not None and _number(each.to) is None):
            raise LanewrightError(
                f"{file}: {each.says!r}: {each.stated!r} to {each.to!r} is no figure",
                hint=f"write a number and one of {', '.join(filter(None, UNITS))}: 55 us, 1.6-1.9 ms",
            )
    return found


def read_stated(stated: str) -> tuple[list[Decimal], str, Decimal] | None:
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
