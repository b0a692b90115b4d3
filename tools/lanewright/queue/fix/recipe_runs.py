"""The cheapest way to read a file out of the sides of its conflict: runs of lines they have.

The file is read once from top to bottom. At each line every side keeps a few places where it reads
the same; the cheapest way to have come so far is kept with each, so that in the end the cheapest
way through the whole file can be traced back. Work grows with the number of lines only.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lanewright.queue.fix.recipe import Side

# What a line of each side costs, the preferred one first; a span costs as much as a few lines of
# theirs, so that a block is not torn up for a line or two that ours has as well.
LINE_COST: dict[Side, int] = {"ours": 0, "theirs": 2, "base": 3}
SPAN_COST = 6
# Of a line that a side has, though too short to be anyone's: a blank, a bracket, `else:`.
SHORT_COST = 3
MOST_PLACES = 8
NO_LINE = -1


class Run(NamedTuple):
    """Lines ``begin`` to ``end`` of the result: the side's from ``at`` on, or our own."""

    side: Side | None
    at: int
    begin: int
    end: int


@dataclass
class Reader:
    """One side while the result is read.

    Attributes:
        lines: The side, each line as a number, and one that is no line's after the last.
        places: Per number, where the side has it.
        live: Per place that matches the result's current line, the cost and the line of the
            result at which its span begins; the place that matches longest comes first.
        next: Where the side is expected to read on.
    """

    side: Side
    lines: Sequence[int]
    places: dict[int, list[int]] = field(default_factory=dict, init=False)
    live: dict[int, tuple[int, int]] = field(default_factory=dict, init=False)
    next: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        for at, line in enumerate(self.lines):
            self.places.setdefault(line, []).append(at)
        self.lines = [*self.lines, NO_LINE]

    def advance(self, line: int, number: int, cheapest: int) -> tuple[int, Run] | None:
        """Take the next line of the result; give the cheapest run that reaches it, with its cost.

        Args:
            line: The line.
            number: Its place in the result.
            cheapest: Cost of all lines before it.
        """
        price = LINE_COST[self.side]
        fresh = cheapest + SPAN_COST + price
        lines, live = self.lines, dict[int, tuple[int, int]]()
        for before, (cost, begin) in self.live.items():
            at = before + 1
            if lines[at] == line:
                live[at] = (cost + price, begin) if cost + price <= fresh else (fresh, number)
        places = self.places.get(line, ())
        if len(live) < min(len(places), MOST_PLACES):
            for at in _near(places, self.next):
                live.setdefault(at, (fresh, number))
                if len(live) == MOST_PLACES:
                    break
        self.live = live
        if not live:
            return None
        self.next = next(iter(live)) + 1
        at = min(live, key=live.__getitem__)
        cost, begin = live[at]
        return cost, Run(self.side, at + begin - number, begin, number + 1)


def _near(places: Sequence[int], at: int) -> Iterator[int]:
    """The places closest to one, those after it first."""
    middle = bisect_left(places, at)
    yield from places[middle : middle + MOST_PLACES // 2]
    yield from places[max(0, middle - MOST_PLACES // 2) : middle][::-1]


def cheapest_runs(
    result: Sequence[int], readers: Mapping[Side, Reader], short: Sequence[bool]
) -> list[Run]:
    """Runs that give the result, in order.

    Args:
        result: Lines as numbers.
        readers: The sides, each at its beginning; the preferred one first.
        short: Per line, whether it may be our own although a side has it.
    """
    cheapest = 0
    ways: list[Run] = []  # per line, the run that reaches it on the cheapest way
    for number, line in enumerate(result):
        reached = [reader.advance(line, number, cheapest) for reader in readers.values()]
        found = [each for each in reached if each]
        if not found or short[number]:
            own = cheapest + (SHORT_COST if found else 0)
            found.append((own, Run(None, 0, number, number + 1)))
        cheapest, way = min(found, key=lambda each: each[0])
        ways.append(way)
    return _begun_early(_traced(ways), result, readers)


def _traced(ways: Sequence[Run]) -> list[Run]:
    runs: list[Run] = []
    end = len(ways)
    while end:
        run = ways[end - 1]
        end = run.begin
        if runs and run.side is None and runs[-1].side is None:
            run = run._replace(end=runs.pop().end)
        runs.append(run)
    return runs[::-1]


def _begun_early(
    runs: Sequence[Run], result: Sequence[int], readers: Mapping[Side, Reader]
) -> list[Run]:
    """Runs, each begun as early as its side allows.

    Where a line is so common that not all of its places were followed, a span may begin late.
    """
    done: list[Run] = []
    for run in runs:
        grown = run
        while grown.side and done:
            before = done[-1]
            size = before.end - before.begin
            back = _backwards(grown, min(size, grown.at), result, readers[grown.side].lines)
            if before.side:
                dearer = LINE_COST[grown.side] - LINE_COST[before.side]
                if back < size or dearer * size >= SPAN_COST:
                    break
            done.pop()
            grown = grown._replace(at=grown.at - back, begin=grown.begin - back)
            if back < size:
                done.append(before._replace(end=before.end - back))
                break
        done.append(grown)
    return done


def _backwards(run: Run, most: int, result: Sequence[int], lines: Sequence[int]) -> int:
    """How many lines before a run its side has as well."""
    back = 0
    while back < most and lines[run.at - back - 1] == result[run.begin - back - 1]:
        back += 1
    return back
