"""Whether a hunk of an updated change is an older one, reworded."""

import pytest

from lanewright.queue.diff import Diff, Hunk
from lanewright.queue.drifted import drifted
from lanewright.queue.hunkid import hunk_ids
from lanewright.queue.subset import split_lines
from lanewright.queue.units import OnBase, Unit

FILE = "vllm/x.py"
BASE = b"def keep(text):\n    if text:\n        return 0\n"


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        (b"    rows = rows_of(text)\n", b"    rows = rows_of(text, limit)\n", ["changed"]),
        (b"    rows = 8\n    keep(rows)\n", b"    rows = 9\n    keep(rows)\n", ["changed"]),
        (b"    # how many rows stay\n", b"    # how many of the rows stay\n", ["changed"]),
        (b"    rows = rows_of(text)\n", b"    self.seen.clear()\n", ["gone", "new"]),
        (b"    # how many rows stay\n", b"    return [line for line in lines]\n", ["gone", "new"]),
    ],
)
def test_a_reworded_line_has_changed_and_another_one_is_new(
    before: bytes, after: bytes, what: list[str]
) -> None:
    sides = [
        OnBase(Diff("#7", ()), "base", {FILE: None}, {FILE: []}, {}, (unit_of(line),))
        for line in (before, after)
    ]
    found = drifted(sides[0], frozenset({sides[0].units[0].id}), sides[1])
    assert [each.what for each in found] == what


def unit_of(added: bytes) -> Unit:
    lines, start = split_lines(BASE), 1
    new = tuple(split_lines(added))
    hunk = Hunk(1, start, (), new, (), new, start, start)
    ((name, symbol),) = hunk_ids(FILE, lines, [hunk])
    return Unit(name, FILE, symbol, f"{start + 1}+0", hunk)
