"""The bench of the queue, in small; how long things take is measured by ``nox -s bench``."""

from pathlib import Path

import pytest

from benchmarks.queue.measure import Size, measure
from benchmarks.queue.rows import Row, slope, table
from tests.upstream.stand_in.miniature import COMMITS, trees
from tests.upstream.tree import BESIDE
from tests.upstream.wheels import make_wheel


def test_the_slope_is_what_one_more_costs() -> None:
    assert slope({10: [1.0, 9.0, 2.0], 50: [6.0, 5.0, 99.0]}) == pytest.approx(0.1)


def test_a_peer_is_to_be_so_many_times_slower() -> None:
    faster = Row("entry", 10.0, "ms", "quilt", 30.0, least=3)
    assert (faster.ratio, faster.met) == (3.0, True)
    assert Row("entry", 10.0, "ms", "quilt", 29.0, least=3).met is False


def test_a_peer_that_is_missing_is_never_counted() -> None:
    row = Row("entry", 10.0, "ms", "quilt", least=3)
    assert (row.ratio, row.met) == (None, None)
    assert "quilt is not installed" in table([row])
    assert "not known" in table([row])


def test_where_nothing_is_wanted_nothing_is_met_or_not() -> None:
    row = Row("entry", 20.0, "ms", "quilt", 10.0)
    assert (row.ratio, row.met) == (0.5, None)
    assert table([row]).endswith("quilt 10.0 ms  0.5x")


def test_growth_is_held_against_half_the_size() -> None:
    assert Row("file", 2.2, "s", "half of it", 1.0, most=2.5).met
    assert Row("file", 2.6, "s", "half of it", 1.0, most=2.5).met is False
    assert Row("memory", 501.0, "MB", most=500).met is False


def test_it_measures_every_row_on_a_miniature(tmp_path: Path) -> None:
    wheels = []
    for version, tree in zip(("0.31.0", "0.32.0"), trees(), strict=True):
        texts = {path: content.raw for path, content in tree.items()}
        wheels.append(make_wheel(tmp_path / "wheels", version, {**texts, **BESIDE}))
    size = Size(entries=(1, 2), commits=COMMITS, lines=400, files=4, crowd=3, repeats=1)
    rows = measure(tmp_path / "bench", wheels[0], wheels[1], size)
    names = [row.name for row in rows]
    assert names == [
        "one more entry, known (1 to 2)",
        "one more entry, known (1 to 2)",
        "one more entry, first time (1 to 2)",
        "one more entry, first time (1 to 2)",
        "build of 1 entries, known",
        "build of 1 entries, first time",
        "build, no change",
        "report of 6 pull requests",
        "report with the matrix of 3",
        "a file of 400 lines, 2 edited on each side",
        "a file of 400 lines, 2 edited on each side: memory",
        "a pull request of 4 files",
        "a pull request of 4 files: memory",
    ]
    assert [row.peer for row in rows[:4]] == ["quilt", "git am -3"] * 2
    assert [row.is_wanted for row in rows[:6]] == [True, True, False, False, True, False]
    assert all(row.ours > 0 for row in rows[4:])
