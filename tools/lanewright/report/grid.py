"""The entries against each other, as a grid."""

from collections.abc import Iterator

from lanewright.report.model import Cell, Report
from lanewright.report.words import label

LEGEND = "C the same claim   L the same lines   f the same file, apart   . nothing"


def grid(report: Report) -> Iterator[str]:
    """A row and a column for each entry that has something in common with another."""
    cells = {frozenset((cell.one, cell.other)): sign(cell) for cell in report.matrix}
    shown = [entry for entry in report.entries if any(entry.name in pair for pair in cells)]
    if not shown:
        return
    names = [label(entry) for entry in shown]
    width = max(map(len, names))
    yield " ".join([" " * (width + 2), *(name.rjust(width) for name in names)]).rstrip()
    for entry, name in zip(shown, names, strict=True):
        signs = (
            cells.get(frozenset((entry.name, other.name)), "." if other is not entry else "")
            for other in shown
        )
        yield " ".join([f"  {name:{width}}", *(each.rjust(width) for each in signs)]).rstrip()
    yield f"  {LEGEND}"


def sign(cell: Cell) -> str:
    """The gravest of what two entries have in common."""
    if cell.claims:
        return "C"
    return "L" if any(shared.meetings for shared in cell.files) else "f"
