"""What may be there in a way that a file's own text does not show is not refused, and no more."""

import pytest

from tests.queue.cases.lane import Lane
from tests.queue.cases.test_closure import A, B, Capture, Case, carried, hunks, one, text, two
from tests.queue.cases.test_removed import FIRST, of_b

PACKAGE = "vllm/b/__init__.py"
MODULE = "from torch import nn\nclass C(nn.Module):\n    def __init__(self):\n        self.z = 0\n"
USER = "    def f(self):\n        return self.rows"


def given(how: str, *, base: str = MODULE, without: str = "        self.rows = 1") -> Case:
    """A class whose attribute another way gives once its assignment is taken away."""
    return one(
        f"{base}        {how}",
        "    def f(self):\n        return 1",
        base=(f"{base}{without}", USER),
        chosen=FIRST,
    )


PASSES = {
    "suppressed": two(
        "import contextlib\nwith contextlib.suppress(ImportError):\n    from vllm.b import new",
        "new = 1",
    ),
    "looked for": two(
        "import importlib.util\nif importlib.util.find_spec('vllm.b'):\n    from vllm.b import new",
        "new = 1",
    ),
    "asked of a module": two(
        "from vllm import b\ny = b.new if hasattr(b, 'new') else 0", "new = 1"
    ),
    "a lambda's own self": one(
        "class C:\n    new = 1",
        "    def f(self):\n        return lambda self: self.new",
        base=("class C:\n    x = 1", "    def f(self): ..."),
    ),
    "made up": one("new = 1", "y = new\nglobals()['x'] = 1"),
    "a buffer": given("self.register_buffer('rows', 1)"),
    "a parameter": given("self.register_parameter('rows', 1)"),
    "a buffer of any name": given("self.register_buffer(f'{0}s', 1)"),
    "set by the class above all": given("object.__setattr__(self, 'rows', 1)"),
    "set by any name": given("for key in (): setattr(self, key, 1)"),
    "of its dictionary": given("self.__dict__.update({})"),
    "of its variables": given("vars(self).update({})"),
    "set through another": given("replace_parameter(self, 'rows', 1)"),
    "of a metaclass": given("pass", base="class C(metaclass=type):\n    def __init__(self):\n"),
    "an enum's value": one(
        "class K(Enum):\n    a = 1",
        "    def f(self):\n        return 1",
        base=(
            "class K(Enum):\n    def value(self): ...",
            "    def f(self):\n        return self.value",
        ),
        chosen=FIRST,
    ),
    "a package of the name of a module": Case(
        {A: ("x = 0",), B: ("x = 0",)},
        {A: ("from vllm.b import new",), B: ("new = 0",), PACKAGE: ("new = 1",)},
        ((A, 0), (PACKAGE, 0)),
    ),
    "only declared for type checkers": of_b(
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    rows: int", "x = 0"),
        ("from vllm import a\ndef f():\n    return a.rows", "x = 0"),
    ),
}


@pytest.mark.parametrize("name", PASSES)
def test_it_is_not_refused(name: str, lane: Lane) -> None:
    carried(lane, PASSES[name])
    assert lane.run("build") == 0


TABLE = "import os\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    OLD: int = 1"
LOOKED_UP = "}\ndef __getattr__(name):\n    return variables[name]()"
REFUSED = {
    "an environment variable needs more than its declaration": Case(
        {A: ("x = 0",), B: (TABLE, "variables = {\n    'OLD': lambda: 1,", LOOKED_UP)},
        {
            A: ("import vllm.b as envs\nif envs.NEW or envs.is_set('NEW'): ...",),
            B: (
                f"{TABLE}\n    NEW: int = 1",
                "variables = {\n    'OLD': lambda: 1,\n    'NEW': lambda: 2,",
                LOOKED_UP,
            ),
        },
        ((A, 0), (B, 0)),
        "vllm.b.NEW",
        ((B, 1),),
    ),
    "an import that leaves the type checkers' block": one(
        "from typing import TYPE_CHECKING\nimport os",
        "y = os.sep",
        base=("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import os", "y = 0"),
        uses="os",
        needs=FIRST,
    ),
    "a name of the function around": one(
        "def f():\n    new = 1",
        "    def g():\n        nonlocal new\n        new += 1",
        "    return new",
        base=(
            "def f():\n    old = 1",
            "    def g():\n        nonlocal old\n        old += 1",
            "    return old",
        ),
        chosen=((A, 2),),
        uses="new",
        needs=((A, 0), (A, 1)),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str, lane: Lane, capfd: Capture) -> None:
    case = REFUSED[name]
    carried(lane, case)
    names = hunks(lane)
    capfd.readouterr()
    assert lane.run("build") == 1
    error = capfd.readouterr().err
    needed = [f"{path}:{names[path, at]}" for path, at in case.needs]
    assert f": uses {case.uses}, which {needed[0]} defines" in error
    assert f"  1 needs too: {', '.join(needed)}\n" in error
    lane.series.write_text(lane.series.read_text().replace("select", "# select"))
    assert lane.run("build") == 0


ROWS = {
    A: text(f"{MODULE}        self.rows = 1", USER),
    "vllm/fp8.py": b"def create(layer):\n    layer.rows = 1\n",
    "vllm/sub.py": b"from vllm.a import C\n\n\nclass D(C):\n    def rows(self): ...\n",
    "vllm/other.py": b"def f(c):\n    return c.rows == 1\n",
}


@pytest.mark.parametrize(
    ("beside", "code"), [("vllm/fp8.py", 0), ("vllm/sub.py", 0), ("vllm/other.py", 1)]
)
def test_a_file_that_the_change_leaves_alone_may_give_an_attribute(
    beside: str, code: int, lane: Lane
) -> None:
    first = lane.start({A: ROWS[A], beside: ROWS[beside]})
    after = text(f"{MODULE}        self.count = 1", USER.replace("rows", "count"))
    assert lane.carry("pull", first, lane.pull({A: after}, first)) == 0
    lane.select(f"{A}:{hunks(lane)[A, 0]}")
    assert lane.run("build") == code


@pytest.mark.parametrize(
    ("user", "code"),
    [
        ("from vllm.a import Old", 1),
        ("from .a import Old", 1),
        ("from vllm import a\ny = a.Old", 1),
        ("import vllm.a as a\n\n\ndef f():\n    return a.Old", 1),
        ("try:\n    from vllm.a import Old\nexcept ImportError: ...", 0),
        ("from vllm.b import Old", 0),
        ("from vllm.a import other", 0),
    ],
)
def test_what_only_another_hunk_gives_back_is_used_all_over_the_lane(
    user: str, code: int, lane: Lane, capfd: Capture
) -> None:
    before = text("class Old: ...", "other = 0")
    first = lane.start({A: before, B: b"Old = 1\n", "vllm/user.py": f"{user}\n".encode()})
    head = lane.pull({A: text("class New: ...", "other = 0\nOld = New")}, first)
    assert lane.carry("pull", first, head) == 0
    names = hunks(lane)
    lane.select(f"{A}:{names[A, 0]}")
    capfd.readouterr()
    assert lane.run("build") == code
    error = capfd.readouterr().err
    line = user.count("\n") + 1
    told = f"takes away vllm.a.Old, which vllm/user.py, line {line}, uses until {A}:{names[A, 1]}"
    assert (told in error) == bool(code)
