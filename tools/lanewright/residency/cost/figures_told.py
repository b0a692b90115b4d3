"""Stated figures beside computed ones, for people."""

from collections.abc import Iterator, Sequence

from lanewright.residency.cost.compared import Compared
from lanewright.residency.cost.figures import Figures
from lanewright.terminal import Amber

# As many as tell a figure apart; what is computed goes through the same.
DIGITS = 4


def figure_lines(figures: Figures, rows: Sequence[Compared]) -> Iterator[str]:
    """Tell each figure: stated, computed, the difference, and why where there is one.

    Args:
        figures: As stated.
        rows: Compared.
    """
    same = sum(each.reproduced for each in rows)
    yield f"{figures.source}: {same} of {len(rows)} figures reproduced"
    width = max(len(each.says) for each in rows) if rows else 0
    yield f"  {'':<10} {'':<{width}}  {'stated':>11}  {'computed':>15}  {'off':>7}"
    for each in rows:
        computed = "-".join(f"{value:.{DIGITS}g}" for value in each.computed)
        line = (
            f"  {each.place:<10} {each.says:<{width}}  {each.stated:>11}"
            f"  {f'{computed} {each.unit}'.strip():>15}  {each.difference:+7.1%}"
        )
        yield (
            line
            if each.reproduced
            else Amber(f"{line}  not reproduced: {each.why or 'no reason given'}")
        )
    if figures.not_computed:
        yield "not computed here"
    for left in figures.not_computed:
        yield f"  {left.place:<10} {left.says}: {left.why}"
