"""What upstream took in word for word beside lines of its own, and what only seems so."""

from collections.abc import Callable

import pytest

from lanewright.queue.beside import stands_beside
from lanewright.queue.subset import split_lines
from lanewright.queue.units import Unit
from lanewright.store.git import Repository, create
from lanewright.store.write import Content
from tests.queue.landed_cases import BLANKS, UNRELATED, Case
from tests.queue.random_pulls import read, stored
from tests.upstream.clash import Clash, clash
from tests.upstream.fixtures import Carrying

PATH = "vllm/rows.py"
BASE = '''\
"""Rows of experts."""

import os
import sys

LIMIT = 64


class Table:
    rows = 8

    def load(self, rows: list[int]) -> int:
        index = self.index(rows)
        return index

    def copy(self, rows: list[int]) -> int:
        call(
            rows,
        )
        return 0
'''
Sides = tuple[str, str, str]


def edit(old: str, new: str, text: str = BASE) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


def inserted(after: str, pull: str, upstream: str) -> Sides:
    """Lines of the pull request and of upstream below the same line."""
    return BASE, edit(after, after + pull), edit(after, after + upstream)


INDEX = "        index = self.index(rows)\n"
POOL = "        pool = Pool(index)\n        pool.pin()\n"
WARM = "        self.warm(index)\n"
LOAD = "    def load(self, rows: list[int]) -> int:\n"
NEW = "    def hottest(self) -> int:\n        return max(self.seen)\n\n"
LANDED = {
    "lines of its own below": inserted(INDEX, POOL, POOL + WARM),
    "lines of its own above": inserted(INDEX, POOL, WARM + POOL),
    "lines of its own around": inserted(INDEX, POOL, WARM + POOL + WARM),
    "in place of what it takes away": (
        BASE,
        edit(INDEX, INDEX.replace("self.index", "self.pool.index")),
        edit(INDEX, INDEX.replace("self.index", "self.pool.index") + WARM),
    ),
    "an import": inserted("import sys\n", "import zlib\n", "import uuid\nimport zlib\n"),
    "a method": (BASE, edit(LOAD, NEW + LOAD), edit(LOAD, NEW + WARM[4:] + "\n" + LOAD)),
    "at the end": inserted("        return 0\n", "\n\nPOOL = 1\n", "\n\nPOOL = 1\nBURST = 2\n"),
}
DOUBTFUL = {
    "nothing of its own": inserted(INDEX, POOL, POOL),
    "another indent": inserted(INDEX, POOL, POOL.replace("        ", "            ") + WARM),
    "trailing blanks": inserted(INDEX, POOL, POOL.replace("pin()", "pin() ") + WARM),
    "a line between": inserted(INDEX, POOL, POOL.replace("\n", f"\n{WARM}", 1)),
    "a part": inserted(INDEX, POOL, POOL.splitlines(keepends=True)[0] + WARM),
    "twice": inserted(INDEX, POOL, POOL + WARM + POOL),
    "what it takes away is still there": (
        BASE,
        edit(INDEX, POOL),
        edit(INDEX, POOL + INDEX),
    ),
    "no name that is new": inserted(INDEX, "        return rows\n", "        return rows\n" + WARM),
    "a bracket": inserted(INDEX, "        )\n", "        )\n" + WARM),
    "words of the language alone": inserted(
        INDEX, "        assert True, len(rows)\n", "        assert True, len(rows)\n" + WARM
    ),
    "another block": inserted(INDEX, POOL, "        if self.x:\n            y()\n    if 1:\n" + POOL),
    "another method": inserted(INDEX, POOL, "        return 0\n\n    def f(self):\n" + POOL + WARM),
    "another call": (
        BASE,
        edit("            rows,\n", "            rows,\n            pool=pool,\n"),
        edit("        )\n", "        )\n        other(\n            pool=pool,\n        )\n"),
    ),
    "inside a string": inserted(INDEX, POOL, f'        """\n{POOL}        """\n'),
    "below a decorator": (BASE, edit(LOAD, NEW + LOAD), edit(LOAD, "    @off\n" + NEW + LOAD)),
    "elsewhere in the file": (
        BASE,
        edit(INDEX, INDEX + POOL),
        edit("        return 0\n", POOL + "        return 0\n", edit(INDEX, INDEX + WARM)),
    ),
    "the lines around are others": (
        BASE,
        edit(INDEX, INDEX + POOL),
        edit(INDEX + "        return index\n", INDEX + POOL + WARM + "        return [index]\n"),
    ),
    "the line above is there twice": (
        edit("LIMIT = 64\n", "LIMIT = 64\n" + INDEX),
        edit("LIMIT = 64\n", "LIMIT = 64\n" + INDEX).replace("        return index", POOL + "        return index"),
        edit("LIMIT = 64\n", "LIMIT = 64\n" + INDEX).replace(LOAD + INDEX, LOAD + WARM + POOL),
    ),
    "a new file": ("", "POOL = 1\n", "POOL = 1\nBURST = 2\n"),
    "lines that are taken away alone": (BASE, edit(INDEX, ""), edit(INDEX, WARM)),
}  # fmt: skip


@pytest.fixture(scope="module")
def unit_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Unit]:
    repository = create(tmp_path_factory.mktemp("beside") / "objects.git")
    return lambda base, pull: _unit(repository, base, pull)


def _unit(repository: Repository, base: str, pull: str) -> Unit:
    sides = [
        stored(repository, {PATH: Content("100644", text.encode())} if text else {})
        for text in (base, pull)
    ]
    (unit,) = read(repository, *sides).units
    return unit


def taken(unit_of: Callable[[str, str], Unit], sides: Sides) -> bool:
    base, pull, upstream = sides
    hunk = unit_of(base, pull).hunk
    assert hunk
    return stands_beside(PATH, hunk, split_lines(base.encode()), split_lines(upstream.encode()))


@pytest.mark.parametrize("sides", LANDED.values(), ids=LANDED)
def test_it_stands_there_word_for_word(unit_of: Callable[[str, str], Unit], sides: Sides) -> None:
    assert taken(unit_of, sides)


@pytest.mark.parametrize("sides", DOUBTFUL.values(), ids=DOUBTFUL)
def test_what_is_doubtful_has_not_landed(unit_of: Callable[[str, str], Unit], sides: Sides) -> None:
    assert not taken(unit_of, sides)


@pytest.mark.parametrize("case", UNRELATED + BLANKS, ids=lambda case: case.name)
def test_what_only_looks_alike_has_not_landed(
    unit_of: Callable[[str, str], Unit], case: Case
) -> None:
    sides = [f"first = 0\n{part}last = 0\n" for part in case[1:]]
    assert not taken(unit_of, (sides[0], sides[1], sides[2]))


OTHER = ("LIMIT = 64\n", "LIMIT = 64\nPOOL_LIMIT = 8\n")
UPSTREAM = edit(INDEX, INDEX + WARM + POOL)


def carried(carrying: Carrying, pull: str, upstream: str, *, code: int = 0) -> Clash:
    base, ours, theirs = ({PATH: text.encode()} for text in (BASE, upstream, pull))
    return clash(carrying, base, ours, theirs, code=code)


def test_its_file_is_upstreams_and_the_report_says_why(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    made = carried(carrying, edit(*OTHER, edit(INDEX, INDEX + POOL)), UPSTREAM)
    assert made.built()[PATH] == edit(*OTHER, UPSTREAM).encode()
    first, second = carrying.lock.entries[0].hunks
    assert (first.outcome, second.outcome, second.open) == ("merged", "landed", False)
    capfd.readouterr()
    assert carrying.run("report") == 0
    said = capfd.readouterr().out
    assert "landed, beside upstream's own lines; " in said
    assert f"+{WARM}" in said
    assert "--landed" not in said
    assert carrying.run("build", "--check") == 0


def test_where_it_is_all_of_an_entry_nothing_is_left_of_it(carrying: Carrying) -> None:
    made = carried(carrying, edit(INDEX, INDEX + POOL), UPSTREAM)
    assert made.outcomes() == {"landed"}
    assert carrying.lock.tree == carrying.lock.pin.tree


def test_beside_a_conflict_only_that_one_is_asked_for(carrying: Carrying) -> None:
    pull = edit("LIMIT = 64\n", "LIMIT = 32\n", edit(INDEX, INDEX + POOL))
    upstream = edit("LIMIT = 64\n", "LIMIT = 16\n", UPSTREAM)
    made = carried(carrying, pull, upstream, code=3)
    assert carrying.run("resolve", "5") == 0
    laid_out = (made.folder() / PATH).read_bytes()
    assert laid_out.count(b"<<<<<<<") == 1
    assert laid_out.count(POOL.encode()) == 1


def test_what_an_earlier_entry_took_out_again_is_asked_for(carrying: Carrying) -> None:
    made = carried(carrying, edit(INDEX, INDEX + POOL), UPSTREAM)
    made.pull(
        4,
        {PATH: edit(WARM + POOL, WARM, UPSTREAM).encode()},
        onto=made.upstream({PATH: UPSTREAM.encode()}),
    )
    series = carrying.series.read_text()
    assert carrying.run("drop", "5") == 0
    assert carrying.run("add", "4") == 0
    entry = series[series.index("[[entry]]\npull = 5") :]
    carrying.series.write_text(f"{carrying.series.read_text()}\n{entry}")
    assert carrying.run("build") == 3
