"""``blame``: every line of a built file, and the entry that it comes from."""

import json
from collections.abc import Iterable

import pytest

from lanewright.queue.blame import blame
from tests.queue.scenarios import BATCH, POOL, ROWS, TO, carried
from tests.upstream.fixtures import Carrying


def is_within(lines: Iterable[str], whole: Iterable[str]) -> bool:
    """Whether the lines stand in this order among others."""
    rest = iter(whole)
    return all(line in rest for line in lines)


def lines_of(raw: bytes) -> list[str]:
    return raw.decode().splitlines()


def require_true(carrying: Carrying) -> set[str]:
    """Hold the blame of every file that an entry changed against the tree after each entry."""
    lock = carrying.lock
    trees = [lock.pin.tree, *(entry.tree for entry in lock.entries)]
    states = [carrying.read(tree) for tree in trees]
    names = [None, *(entry.name for entry in lock.entries)]
    changed = {path for path, raw in states[-1].items() if states[0].get(path) != raw}
    assert changed
    blamed: set[str] = set()
    for path in changed:
        told = blame(carrying.places, lock, path)
        assert [each.number for each in told] == list(range(1, len(told) + 1))
        assert [each.text for each in told] == lines_of(states[-1][path])
        for number in range(len(names)):
            until = [each.text for each in told if names.index(each.entry) <= number]
            assert is_within(until, lines_of(states[number].get(path, b""))), (path, number)
        blamed |= {each.entry for each in told if each.entry}
    return blamed


def test_every_line_has_the_entry_that_brought_it(carrying: Carrying) -> None:
    carried(carrying, POOL, ROWS, BATCH)
    assert require_true(carrying) == {POOL, ROWS, BATCH}


def test_what_a_fix_wrote_is_its_entrys(carrying: Carrying) -> None:
    carried(carrying, ROWS, POOL)
    assert carrying.run(*TO) == 3
    carrying.settle(POOL)
    assert carrying.run(*TO) == 0
    assert require_true(carrying) == {POOL, ROWS}
    fixed = carrying.lock.entries[1].fixes[0].path
    assert any(each.entry == POOL for each in blame(carrying.places, carrying.lock, fixed))


def test_a_file_that_no_entry_touched_is_upstreams(
    carrying: Carrying, capsys: pytest.CaptureFixture[str]
) -> None:
    carried(carrying, ROWS)
    path = next(path for path, raw in carrying.read(carrying.lock.pin.tree).items() if raw)
    capsys.readouterr()
    assert carrying.run("blame", "sample", path, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told
    assert {each["entry"] for each in told} == {None}
    assert carrying.run("blame", path) == 0
    printed = capsys.readouterr()
    assert all(line.startswith("release:0.31.0") for line in printed.out.splitlines())
    assert f"{path}: release:0.31.0 {len(told)}" in printed.err


def test_a_path_that_is_not_there_is_refused_with_those_of_its_name(
    carrying: Carrying, capsys: pytest.CaptureFixture[str]
) -> None:
    carried(carrying, ROWS)
    path = min(carrying.read(carrying.lock.pin.tree))
    capsys.readouterr()
    assert carrying.run("blame", f"nowhere/{path.rpartition('/')[2]}") == 1
    told = capsys.readouterr().err
    assert f"; it has {path}" in told
    assert f"\n  next: lanewright blame sample {path}" in told
    assert carrying.run("blame", "nowhere/nothing") == 1
    assert "next: lanewright show sample names the files" in capsys.readouterr().err


def test_a_lane_that_is_not_built_has_no_lines(
    carrying: Carrying, capsys: pytest.CaptureFixture[str]
) -> None:
    assert carrying.run("blame", "vllm/__init__.py") == 4
    assert "lanewright build sample" in capsys.readouterr().err


def test_the_tree_that_was_built_last_is_told_as_that(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    carried(carrying, ROWS)
    path = next(path for path in carrying.read(carrying.lock.tree) if path.endswith("uva_bank.py"))
    capfd.readouterr()
    assert carrying.run("blame", path) == 0
    assert "out of date" not in capfd.readouterr().err
    carrying.series.write_text(carrying.series.read_text().partition("[[entry]]")[0])
    assert carrying.run("blame", path) == 0
    told = capfd.readouterr()
    assert (
        f"the lock is out of date ({ROWS} dropped); this is the tree that was built last"
        in told.err
    )
    assert "next: lanewright build sample" in told.err
    assert ROWS in told.out
    carrying.series.write_text("title = 1\n")
    assert carrying.run("blame", path) == 0
