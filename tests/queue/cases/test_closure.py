"""A choice that uses what only unchosen hunks define is refused, and what can be told apart passes."""

from dataclasses import dataclass

import pytest

from tests.queue.cases.lane import Lane

Capture = pytest.CaptureFixture[str]
GAP = "".join(f"# {number}\n" for number in range(8))
A, B, PACKAGE = "vllm/a.py", "vllm/b.py", "vllm/new/__init__.py"
USED = {A: b"from vllm.b import new\n", B: b"new = 1\n"}


def text(*parts: str) -> bytes:
    """Parts so far apart that each is a hunk of its own."""
    return GAP.join(f"{part}\n" for part in parts).encode()


@dataclass(frozen=True)
class Case:
    """A change, and what of it is chosen.

    Attributes:
        base: Parts of each file before.
        head: The same after; what is equal is no hunk.
        chosen: Hunks, as path and place among its file's hunks.
        uses: What the first finding says that the chosen hunk uses.
        needs: The closure, as ``chosen``.
    """

    base: dict[str, tuple[str, ...]]
    head: dict[str, tuple[str, ...]]
    chosen: tuple[tuple[str, int], ...] = ((A, 1),)
    uses: str = ""
    needs: tuple[tuple[str, int], ...] = ()


def one(*head: str, base: tuple[str, ...] = ("x = 0", "y = 0"), **kwargs: object) -> Case:
    """A change of one file; the second hunk is chosen."""
    return Case({A: base}, {A: head}, **kwargs)  # type: ignore[arg-type]


def two(a: str, b: str, before: str = "x = 0", **kwargs: object) -> Case:
    """A change of two files; that of the first is chosen."""
    chosen = ((A, 0),)
    return Case({A: ("x = 0",), B: (before,)}, {A: (a,), B: (b,)}, chosen, **kwargs)  # type: ignore[arg-type]


FIRST, OTHER = ((A, 0),), ((B, 0),)
METHOD = "class C:\n    def f(self):\n        return self.g()"
FUNCTION = "def f(a):\n    return a"
REFUSED = {
    "a function of the file": one("def new(): ...", "y = new()", uses="new", needs=FIRST),
    "a class of the file": one("class New: ...", "class Y(New): ...", uses="New", needs=FIRST),
    "a constant": one("NEW = 1", "def f():\n    return NEW", uses="NEW", needs=FIRST),
    "an import": one("import os", "y = os.sep", uses="os", needs=FIRST),
    "an import under another name": one("import os as new", "y = new", uses="new", needs=FIRST),
    "an annotation": one("import os", "def f(a: os.PathLike): ...", uses="os", needs=FIRST),
    "a parameter": one(
        "def f(a, new):\n    _0 = 0",
        "    return new",
        base=("def f(a):\n    _0 = 0", "    return a"),
        uses="new",
        needs=FIRST,
    ),
    "a method": one(
        "class C:\n    def g(self): ...",
        "    def f(self):\n        return self.g()",
        base=("class C:\n    z = 0", "    def f(self): ..."),
        uses="C.g",
        needs=FIRST,
    ),
    "an attribute that __init__ sets": one(
        "class C:\n    def __init__(self):\n        self.new = 1",
        "    def f(self):\n        return self.new",
        base=("class C:\n    def __init__(self):\n        self.x = 1", "    def f(self): ..."),
        uses="C.new",
        needs=FIRST,
    ),
    "an attribute that is added to": one(
        "class C:\n    def __init__(self):\n        self.new = 1",
        "    def f(self):\n        self.new += 1",
        base=("class C:\n    def __init__(self):\n        self.x = 1", "    def f(self): ..."),
        uses="C.new",
        needs=FIRST,
    ),
    "a local name that is added to": one(
        "def f():\n    new = 1",
        "    new += 1",
        base=("def f():\n    _0 = 0", "    _0 = 1"),
        uses="new",
        needs=FIRST,
    ),
    "a name of another module": two(
        "from vllm.b import new", "new = 1", uses="vllm.b.new", needs=OTHER
    ),
    "a relative import": two("from .b import new", "new = 1", uses="vllm.b.new", needs=OTHER),
    "an attribute of a module": two(
        "from vllm import b\nx = b.new", "new = 1", uses="vllm.b.new", needs=OTHER
    ),
    "a name that a module makes up": two(
        "import vllm.b as b\ny = b.NEW",
        "names = {'NEW': 1}\ndef __getattr__(name):\n    return names[name]",
        "names = {'OLD': 1}\ndef __getattr__(name):\n    return names[name]",
        uses="vllm.b.NEW",
        needs=OTHER,
    ),
    "a field of a class": two(
        "from vllm.b import C\ny = C.new",
        "class C:\n    new: int = 1",
        "class C:\n    old: int = 1",
        uses="vllm.b.C.new",
        needs=OTHER,
    ),
    "a keyword of a function": two(
        "from vllm.b import f\ny = f(new=1)",
        "def f(new): ...",
        "def f(old): ...",
        uses="vllm.b.f(new=)",
        needs=OTHER,
    ),
    "a keyword that is a field": two(
        "from vllm.b import C\ny = C(new=1)",
        "@dataclass\nclass C:\n    new: int = 1",
        "@dataclass\nclass C:\n    old: int = 1",
        uses="vllm.b.C(new=)",
        needs=OTHER,
    ),
    "a module": two("import vllm.new.m", "x = 1", uses="vllm.new.m", needs=(("vllm/new/m.py", 0),)),
    "a sibling that a package brings in": Case(
        {}, {PACKAGE: ("from .m import new",), "vllm/new/m.py": ("new = 1",)},
        ((PACKAGE, 0),), "vllm.new.m.new", (("vllm/new/m.py", 0),),
    ),
    "a method that is inherited": one(
        "class B:\n    def g(self): ...",
        "class C(B):\n    def f(self):\n        return self.g()",
        base=("class B:\n    z = 0", "class C(B):\n    def f(self): ..."),
        uses="C.g",
        needs=FIRST,
    ),
    "a method that a class of another module gives": two(
        "from vllm.b import C\nclass D(C):\n    def f(self):\n        return self.new()",
        "class B:\n    def new(self): ...\nclass C(B): ...",
        "class B:\n    def old(self): ...\nclass C(B): ...",
        uses="D.new",
        needs=OTHER,
    ),
    "what those need in turn": Case(
        {A: ("x = 0",), B: ("x = 0", "y = 0")},
        {A: ("from vllm.b import new",), B: ("old = 1", "def new():\n    return old")},
        ((A, 0),), "vllm.b.new", ((B, 0), (B, 1)),
    ),
}  # fmt: skip
REFUSED["a module"].head["vllm/new/m.py"] = ("new = 1",)
PASSES = {
    "a local name": one("new = 1", "def f():\n    new = 2\n    return new"),
    "a comprehension's": one("new = 1", "y = [new for new in (1, 2)]"),
    "a builtin that another hunk hides": one("def print(): ...", "y = print"),
    "a lambda's": one("new = 1", "y = lambda new: new"),
    "an except's": one("new = 1", "try: ...\nexcept OSError as new:\n    print(new)"),
    "a match's": one("new = 1", "match 1:\n    case new:\n        print(new)"),
    "a global that a function sets": one(
        "new = 1", "def f():\n    global new\n    new = 2\n\ndef g():\n    return new"
    ),
    "a string": one("class New: ...", "y: 'New' = getattr(1, 'New', None)"),
    "an annotation that is not evaluated": one(
        "from __future__ import annotations\nimport os",
        "def f(a: os.PathLike): ...",
        base=("from __future__ import annotations", "y = 0"),
    ),
    "a local annotation": one("import os", "def f():\n    a: os.PathLike = 1"),
    "for type checkers": two(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from vllm.b import new", "new = 1"
    ),
    "an import that may fail": two(
        "try:\n    from vllm.b import new\nexcept ImportError:\n    new = None", "new = 1"
    ),
    "a name that may be missing": one("new = 1", "try:\n    new\nexcept NameError: ..."),
    "a star import": one("new = 1", "from os import *\ny = new"),
    "an object of unknown type": two("def f(c):\n    return c.new", "class C:\n    new = 1"),
    "an attribute that is inherited": one(
        "class C(B):\n    def g(self): ...",
        "    def f(self):\n        return self.g()",
        base=("class B:\n    def g(self): ...\nclass C(B):\n    z = 0", "    def f(self): ..."),
    ),
    "an attribute that an unknown base may have": one(
        "class C(os.PathLike):\n    def g(self): ...",
        "    def f(self):\n        return self.g()",
        base=("class C(os.PathLike):\n    z = 0", "    def f(self): ..."),
    ),
    "an attribute that one of two bases gives and the other may": two(
        "from vllm.b import C\nfrom os import PathLike\nclass D(C, PathLike):\n"
        "    def f(self):\n        return self.new()",
        "class C:\n    def new(self): ...",
        "class C:\n    def old(self): ...",
    ),
    "a method that torch has too": one(
        "class C(nn.Module):\n    def eval(self): ...",
        "    def f(self):\n        return self.eval()",
        base=("class C(nn.Module):\n    z = 0", "    def f(self): ..."),
    ),
    "an attribute that somebody sets from outside": one(
        "class C:\n    new = 1",
        "    def f(self):\n        return self.new",
        "def g(c):\n    c.new = 2",
        base=("class C:\n    z = 0", "    def f(self): ...", "def g(c):\n    c.new = 2"),
    ),
    "a keyword where any is taken": two(
        "from vllm.b import f\ny = f(new=1)", "def f(new, **more): ...", "def f(**more): ..."
    ),
    "a keyword of what is decorated": two(
        "from vllm.b import f\ny = f(new=1)", "@odd\ndef f(new): ...", "@odd\ndef f(old): ..."
    ),
    "a removal that is not taken": Case(
        {A: ("def old(): ...", "y = 0")}, {A: ("z = 0", "y = old()")}
    ),
}


def carried(lane: Lane, case: Case) -> None:
    """Carry the whole change, then only what is chosen; nothing is built."""
    base = {path: text(*parts) for path, parts in case.base.items()}
    head = {path: text(*parts) for path, parts in case.head.items()}
    first = lane.start(base)
    assert lane.carry("pull", first, lane.pull(head, first)) == 0
    names = hunks(lane)
    lane.select(*(f"{path}:{names[path, at]}" for path, at in case.chosen))


def hunks(lane: Lane) -> dict[tuple[str, int], str]:
    """The ids of the lock's hunks, by path and place among its file's."""
    found: dict[tuple[str, int], str] = {}
    for hunk in lane.lock.entries[0].hunks:
        at = sum(path == hunk.path for path, _ in found)
        found[hunk.path, at] = hunk.id
    return found


@pytest.mark.parametrize("name", REFUSED)
def test_a_choice_is_refused_with_what_it_lacks(name: str, lane: Lane, capfd: Capture) -> None:
    case = REFUSED[name]
    carried(lane, case)
    names = hunks(lane)
    tree = lane.lock.tree
    capfd.readouterr()
    assert lane.run("build") == 1
    error = capfd.readouterr().err
    user, (giver, *_) = case.chosen[0], case.needs[::-1]
    assert f"  1: {user[0]}, hunk {names[user]}, line " in error
    assert f": uses {case.uses}, which {giver[0]}:{names[giver]} defines, and" in error
    parts = " ".join(f"1:{path}:{names[path, at]}" for path, at in case.needs)
    assert f"next: lanewright add {parts}, or leave out" in error
    assert lane.lock.tree == tree


@pytest.mark.parametrize("name", REFUSED)
def test_with_its_closure_it_is_built(name: str, lane: Lane) -> None:
    case = REFUSED[name]
    carried(lane, Case(case.base, case.head, case.chosen + case.needs))
    assert lane.run("build") == 0


@pytest.mark.parametrize("name", PASSES)
def test_what_may_be_there_is_not_refused(name: str, lane: Lane) -> None:
    carried(lane, PASSES[name])
    assert lane.run("build") == 0


def test_upstream_may_define_it_and_take_it_back(lane: Lane, capfd: Capture) -> None:
    base = {"vllm/base.py": b"base = 1\n"}
    first = lane.start(base)
    assert lane.carry("pull", first, lane.pull(USED, first)) == 0
    has = lane.move(first, base, {**base, B: b"new = 'upstream'\n"})
    lane.select(A)
    assert lane.run("build") == 0
    capfd.readouterr()
    gone = lane.commit("refs/heads/main", {B: None}, has)
    assert lane.run("rebase", "--to", gone) == 1
    error = capfd.readouterr().err
    assert f"uses vllm.b.new, which {B}:" in error
    assert lane.lock.pin.commit == has


def test_of_an_own_patch_the_series_is_to_name_more(lane: Lane, capfd: Capture) -> None:
    first = lane.start({})
    assert lane.carry("patch", first, lane.pull(USED, first)) == 0
    lane.select(A)
    capfd.readouterr()
    assert lane.run("build") == 1
    error = capfd.readouterr().err
    assert "next: name what it needs in the `select` of series/sample.toml: entry 1, or" in error
    assert f"hook needs too: {B}:" in error


OPS, BINDINGS = "vllm/_custom_ops.py", "csrc/torch_bindings.cpp"


@pytest.mark.parametrize("landed", [1, 0], ids=["landed", "not landed"])
def test_an_op_that_upstream_calls_at_the_pin_is_there(landed: int, lane: Lane) -> None:
    before = {OPS: b"import torch\n", BINDINGS: b""}
    after = {
        OPS: b"import torch\n\n\ndef new(x):\n    return torch.ops._C.new(x)\n",
        BINDINGS: b'ops.def("new(Tensor x) -> ()");\n',
    }
    first = lane.start(before)
    head = lane.pull(after, first)
    lane.move(first, before, after if landed else before)
    assert lane.carry("pull", first, head) == (0 if landed else 1)
