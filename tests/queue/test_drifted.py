"""Whether a hunk of an updated change is an older one, reworded."""

import pytest

from lanewright.queue.merge.hunkid import hunk_ids
from lanewright.queue.merge.subset import split_lines
from lanewright.queue.merge.units import OnBase, Unit
from lanewright.queue.patch.diff import Diff, Hunk
from lanewright.queue.pull.drifted import drifted

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
    sides = [change_of(before), change_of(after)]
    found = drifted(sides[0], frozenset({sides[0].units[0].id}), sides[1])
    assert [each.what for each in found] == what


REWORDED = (b"    rows = rows_of(text)\n", b"    rows = rows_of(text, limit)\n")
OTHER = (b"    self.seen.clear()\n", b"    self.seen.clear(now)\n")


def test_a_hunk_that_is_not_chosen_is_not_new_when_it_is_reworded() -> None:
    before, after = change_of(REWORDED[0], OTHER[0]), change_of(REWORDED[1], OTHER[1])
    [told] = drifted(before, frozenset({before.units[1].id}), after)
    assert (told.what, told.id, told.now) == ("changed", before.units[1].id, after.units[1].id)
    assert drifted(before, frozenset(), after) == []
    [new] = drifted(change_of(OTHER[0]), frozenset(), change_of(OTHER[0], REWORDED[0]))
    assert (new.what, new.id) == ("new", before.units[0].id)


def test_a_chosen_hunk_does_not_become_what_one_that_is_not_chosen_was_reworded_to() -> None:
    alike = b"    rows = rows_of(limit, other)\n"
    before = change_of(alike, REWORDED[0])
    after = change_of(REWORDED[1])
    [told] = drifted(before, frozenset({before.units[0].id}), after)
    assert told.what == "gone"


def test_of_two_that_are_as_much_alike_the_chosen_one_has_changed() -> None:
    before = change_of(b"    rows = rows_of(a)\n", b"    rows = rows_of(b)\n")
    after = change_of(b"    rows = rows_of(c)\n")
    for unit in before.units:
        [told] = drifted(before, frozenset({unit.id}), after)
        assert (told.what, told.id, told.now) == ("changed", unit.id, after.units[0].id)


def change_of(*added: bytes) -> OnBase:
    units = tuple(unit_of(each) for each in added)
    return OnBase(Diff("#7", ()), "base", {FILE: None}, {FILE: []}, {}, units)


def unit_of(added: bytes) -> Unit:
    lines, start = split_lines(BASE), 1
    new = tuple(split_lines(added))
    hunk = Hunk(1, start, (), new, (), new, start, start)
    ((name, symbol),) = hunk_ids(FILE, lines, [hunk])
    return Unit(name, FILE, symbol, f"{start + 1}+0", hunk)
