"""What was measured, held against what is wanted, as one table."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

COLUMNS = ("row", "ours", "peer", "ratio", "wanted", "met")


@dataclass(frozen=True)
class Row:
    """One measurement.

    Attributes:
        name: What was measured.
        ours: It, in ``unit``.
        unit: ``ms``, ``s`` or ``MB``.
        peer: What it is held against, if anything.
        theirs: The peer's, in the same unit; None where there is no peer, or it is not installed.
        least: The least times that the peer's must be ours, if anything is wanted.
        most: The most that ours may be, in ``unit``; with a peer, in times the peer's.
    """

    name: str
    ours: float
    unit: str
    peer: str = ""
    theirs: float | None = None
    least: float | None = None
    most: float | None = None

    @property
    def ratio(self) -> float | None:
        """Ours by the peer's where ours has a most, else the peer's by ours."""
        if self.theirs is None:
            return None
        return self.theirs / self.ours if self.most is None else self.ours / self.theirs

    @property
    def is_wanted(self) -> bool:
        """Whether it has a bound."""
        return self.least is not None or self.most is not None

    @property
    def met(self) -> bool | None:
        """Whether it is as wanted; None where nothing is, or the peer is missing."""
        if not self.is_wanted or (self.peer and self.ratio is None):
            return None
        found = self.ours if self.ratio is None else self.ratio
        return (self.least is None or found >= self.least) and (
            self.most is None or found <= self.most
        )

    def data(self) -> dict[str, object]:
        """It for a program."""
        return {**asdict(self), "ratio": self.ratio, "met": self.met}

    def cells(self) -> tuple[str, ...]:
        """It for people, by column."""
        peer = f"{self.peer} {_told(self.theirs, self.unit)}" if self.peer else ""
        times = "" if self.ratio is None else f"{self.ratio:.1f}x"
        unit = "x" if self.peer else f" {self.unit}"
        bounds = (("at least", self.least), ("at most", self.most))
        wanted = ", ".join(f"{word} {each:g}{unit}" for word, each in bounds if each is not None)
        met = {True: "met", False: "NOT MET", None: "not known"}[self.met] if wanted else ""
        return (self.name, _told(self.ours, self.unit), peer, times, wanted, met)


def slope(by_size: Mapping[int, Sequence[float]]) -> float:
    """What one more costs: between the medians of the smallest and the largest size."""
    low, high = min(by_size), max(by_size)
    rise = statistics.median(by_size[high]) - statistics.median(by_size[low])
    return rise / (high - low)


def table(rows: Sequence[Row]) -> str:
    """All rows for people."""
    cells = [COLUMNS, *(row.cells() for row in rows)]
    widths = [max(len(each[column]) for each in cells) for column in range(len(COLUMNS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(each, widths, strict=True)).rstrip()
        for each in cells
    )


def _told(value: float | None, unit: str) -> str:
    if value is None:
        return "is not installed"
    return f"{value:.0f} {unit}" if unit == "MB" else f"{value:.{1 if unit == 'ms' else 2}f} {unit}"
