"""A chosen hunk that takes away what only unchosen hunks cease to use is refused with those."""

import pytest

from tests.queue.cases.lane import Lane
from tests.queue.cases.test_closure import A, B, Capture, Case, carried, hunks, one, text

FIRST, OTHER = ((A, 0),), ((B, 0),)


def of_b(a: tuple[str, str], b: tuple[str, str], **kwargs: object) -> Case:
    """A change of two files; that of the first, which takes away what the second uses, is chosen."""
    base, head = ({A: (a[at],), B: (b[at],)} for at in (0, 1))
    return Case(base, head, FIRST, needs=OTHER, **kwargs)  # type: ignore[arg-type]


REFUSED = {
    "a function of another module": of_b(
        ("def rows(): ...", "def row_count(): ..."),
        ("from vllm.a import rows\ny = rows()", "from vllm.a import row_count\ny = row_count()"),
        uses="vllm.a.rows",
    ),
    "an attribute of a module": of_b(
        ("rows = 1", "row_count = 1"),
        ("from vllm import a\ny = a.rows", "from vllm import a\ny = a.row_count"),
        uses="vllm.a.rows",
    ),
    "a keyword": of_b(
        ("def f(rows): ...", "def f(row_count): ..."),
        ("from vllm.a import f\ny = f(rows=1)", "from vllm.a import f\ny = f(row_count=1)"),
        uses="vllm.a.f(rows=)",
    ),
    "a field": of_b(
        ("class C:\n    rows: int = 1", "class C:\n    row_count: int = 1"),
        ("from vllm.a import C\ny = C.rows", "from vllm.a import C\ny = C.row_count"),
        uses="vllm.a.C.rows",
    ),
    "a function of the file": one(
        "def row_count(): ...",
        "y = row_count()",
        base=("def rows(): ...", "y = rows()"),
        chosen=FIRST,
        uses="rows",
        needs=((A, 1),),
    ),
    "a local name": one(
        "def f():\n    row_count = 1",
        "    return row_count",
        base=("def f():\n    rows = 1", "    return rows"),
        chosen=FIRST,
        uses="rows",
        needs=((A, 1),),
    ),
    "a parameter": one(
        "def f(row_count):\n    _0 = 0",
        "    return row_count",
        base=("def f(rows):\n    _0 = 0", "    return rows"),
        chosen=FIRST,
        uses="rows",
        needs=((A, 1),),
    ),
    "a method": one(
        "class C:\n    def row_count(self): ...",
        "    def f(self):\n        return self.row_count()",
        base=("class C:\n    def rows(self): ...", "    def f(self):\n        return self.rows()"),
        chosen=FIRST,
        uses="C.rows",
        needs=((A, 1),),
    ),
    "a method that is inherited": of_b(
        ("class C:\n    def rows(self): ...", "class C:\n    def row_count(self): ..."),
        (
            "from vllm.a import C\nclass D(C):\n    def f(self):\n        return self.rows()",
            "from vllm.a import C\nclass D(C):\n    def f(self):\n        return self.row_count()",
        ),
        uses="D.rows",
    ),
    "an import that others of the file need": one(
        "z = 0",
        "y = 0",
        base=("import os", "y = os.sep"),
        chosen=FIRST,
        uses="os",
        needs=((A, 1),),
    ),
    "a definition that moves": one(
        "z = 0",
        "def rows(): ...",
        "y = rows()",
        base=("def rows(): ...", "x = 0", "y = rows()"),
        chosen=FIRST,
        uses="rows",
        needs=((A, 1),),
    ),
}
PASSES = {
    "what the change as a whole breaks, too": Case(
        {A: ("rows = 1",), B: ("from vllm.a import rows", "x = 0")},
        {A: ("row_count = 1",), B: ("from vllm.a import rows", "x = 1")},
        FIRST,
    ),
    "an import that may fail": of_b(
        ("rows = 1", "row_count = 1"),
        ("try:\n    from vllm.a import rows\nexcept ImportError: ...", "rows = 1"),
    ),
    "for type checkers": of_b(
        ("class C: ...", "class D: ..."),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from vllm.a import C",
            "x = 1",
        ),
    ),
    "a name that stays elsewhere in the file": one(
        "z = 0",
        "y = 1",
        "import os",
        base=("import os", "y = os.sep", "import os"),
        chosen=FIRST,
    ),
    "a name that is imported instead": of_b(
        ("def rows(): ...", "from os import sep as rows"),
        ("from vllm.a import rows", "x = 1"),
    ),
    "a method that is inherited then": one(
        "class B:\n    def rows(self): ...\nclass C(B):\n    z = 0",
        "    def f(self): ...",
        base=(
            "class C:\n    def rows(self): ...",
            "    def f(self):\n        return self.rows()",
        ),
        chosen=FIRST,
    ),
    "a keyword that is still taken": of_b(
        ("def f(rows): ...", "def f(**more): ..."),
        ("from vllm.a import f\ny = f(rows=1)", "from vllm.a import f\ny = f(row_count=1)"),
    ),
    "a name of what is made up": of_b(
        ("rows = 1", "def __getattr__(name):\n    return {'rows': 1}[name]"),
        ("from vllm.a import rows", "x = 1"),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_who_still_uses_it(name: str, lane: Lane, capfd: Capture) -> None:
    case = REFUSED[name]
    carried(lane, case)
    names = hunks(lane)
    tree = lane.lock.tree
    capfd.readouterr()
    assert lane.run("build") == 1
    error = capfd.readouterr().err
    remover, (mender, *_) = case.chosen[0], case.needs
    assert (
        f"  1: {A}, hunk {names[remover]}: takes away {case.uses}, which {mender[0]}, line "
        in error
    )
    assert "lane sample: chosen hunks take away what the lane uses:\n" in error
    assert f", uses until {mender[0]}:{names[mender]} changes that, and" in error
    parts = " ".join(f"1:{path}:{names[path, at]}" for path, at in case.needs)
    assert f"next: lanewright add {parts}, or leave out" in error
    assert error.rstrip().endswith(f"lanewright drop 1:{A}:{names[remover]}")
    assert lane.lock.tree == tree


@pytest.mark.parametrize("name", REFUSED)
def test_with_what_mends_it_it_is_built(name: str, lane: Lane) -> None:
    case = REFUSED[name]
    carried(lane, Case(case.base, case.head, case.chosen + case.needs))
    assert lane.run("build") == 0


@pytest.mark.parametrize("name", REFUSED)
def test_who_uses_it_may_come_alone_only_where_the_new_name_is_there(
    name: str, lane: Lane, capfd: Capture
) -> None:
    case = REFUSED[name]
    carried(lane, Case(case.base, case.head, case.needs))
    capfd.readouterr()
    alone = {"an import that others of the file need", "a definition that moves"}
    assert lane.run("build") == (0 if name in alone else 1)


@pytest.mark.parametrize("name", PASSES)
def test_what_may_be_there_still_is_not_refused(name: str, lane: Lane) -> None:
    carried(lane, PASSES[name])
    assert lane.run("build") == 0


def test_a_file_that_others_import_goes_with_their_change(lane: Lane, capfd: Capture) -> None:
    first = lane.start({A: b"rows = 1\n", B: b"import vllm.a\n"})
    assert lane.carry("pull", first, lane.pull({A: None, B: b"x = 0\n"}, first)) == 0
    lane.select(A)
    capfd.readouterr()
    assert lane.run("build") == 1
    assert f": takes away vllm.a, which {B}, line 1, uses until {B}:" in capfd.readouterr().err


BEFORE = {A: text("def rows(): ...", "z = 0"), B: text("from vllm.a import rows\ny = rows()")}
AFTER = {A: text("def count(): ...", "z = 0"), B: text("from vllm.a import count\ny = count()")}
KEPT = {A: text("def rows(): ...", "rows = 1"), B: text("y = 1")}


@pytest.mark.parametrize("path", [A, B])
def test_upstream_may_have_done_away_with_the_use_or_kept_the_name(path: str, lane: Lane) -> None:
    first = lane.start(BEFORE)
    head = lane.pull(AFTER, first)
    lane.move(first, BEFORE, {**BEFORE, path: KEPT[path]})
    assert lane.carry("pull", first, head) in {0, 3}
    lane.select(A)
    assert lane.run("build") == 0


def test_dropping_who_uses_the_new_name_drops_what_took_the_old_one_away(
    lane: Lane, capfd: Capture
) -> None:
    first = lane.start(BEFORE)
    assert lane.carry("pull", first, lane.pull(AFTER, first)) == 0
    capfd.readouterr()
    assert lane.run("drop", f"1:{B}") == 1
    error = capfd.readouterr().err
    names = hunks(lane)
    assert f"next: lanewright drop 1:{B} 1:{A}:{names[A, 0]}" in error
    assert lane.run("drop", f"1:{B}", f"1:{A}:{names[A, 0]}") == 0
