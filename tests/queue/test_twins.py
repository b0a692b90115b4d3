"""Methods with equal bodies: a hunk goes into its own method, or a person is asked."""

from pathlib import Path

import pytest

from lanewright.errors import ConflictError
from lanewright.queue.build import build
from lanewright.store.objects import files, read_blobs
from tests.conftest import AddRelease, World
from tests.upstream.diff import own_patch

BODY = """\
        self.check()
        value = self.load()
        self.store(value)
        return value

"""


def twins(names: str, edited: str = "") -> bytes:
    """A class with one method per letter, all of one body save the edited one."""
    text = "class A:\n"
    for name in names:
        body = BODY.replace("value)", "value + 1)") if name == edited else BODY
        text += f"    def {name}(self):\n{body}"
    return text.encode()


@pytest.fixture
def carried(world: World, release: AddRelease, tmp_path: Path) -> World:
    """A patch that edits the second of three twins."""
    release("2.0", {"vllm/twins.py": twins("abc")})
    patch = own_patch(
        tmp_path / "twins",
        {"vllm/twins.py": twins("abc")},
        {"vllm/twins.py": twins("abc", "b")},
        base="release:2.0",
    )
    (world.root / "patches/own/hook.patch").write_bytes(patch)
    world.edit("series/sample.toml", "release:1.1", "release:2.1")
    return world


@pytest.mark.parametrize("upstream", ["zabc", "azbc", "abzc", "xbc", "abcz"])
def test_the_right_method_is_edited(carried: World, release: AddRelease, upstream: str) -> None:
    release("2.1", {"vllm/twins.py": twins(upstream)})
    lock = build(carried.project, carried.places, "sample").lock
    file = files(carried.repository, lock.tree)["vllm/twins.py"]
    found = read_blobs(carried.repository, [file.blob])[file.blob]
    assert found == twins(upstream, "b")


@pytest.mark.parametrize("upstream", ["ac", "bac", "acb", "c", "a", "adc"])
def test_a_person_is_asked(carried: World, release: AddRelease, upstream: str) -> None:
    release("2.1", {"vllm/twins.py": twins(upstream)})
    with pytest.raises(ConflictError, match=r"vllm/twins\.py, hunk \w{10} in A\.b: conflict"):
        build(carried.project, carried.places, "sample")
    assert not carried.lock.exists()


def test_the_cause_names_the_other_method(
    carried: World, release: AddRelease, capfd: pytest.CaptureFixture[str]
) -> None:
    release("2.1", {"vllm/twins.py": twins("bac")})
    assert carried.run("build") == 3
    assert "git would put it into A / a instead of A / b" in capfd.readouterr().err


def section(name: str, kind: str, edited: bool) -> str:  # noqa: FBT001 - a table's column
    """One of several sections with equal insides, in a language's own way."""
    if kind == "json":
        return f'  "{name}": {{\n    "M": 16,\n    "N": 32,\n{EXTRA * edited}    "K": 1\n  }},\n'
    if kind == "branch":
        body = f"        a = 16\n        b = 32\n{'        w = 9' * edited}\n        c = 1\n"
        return f"    if m == '{name}':\n{body}        return a\n"
    if kind == "last line":
        body = f"        m = 16\n        n = 32\n{'        w = 9' * edited}\n"
        return f'    elif x == "{name}":\n{body}'
    if kind == "call":
        extra = "        w=9,\n" * edited
        return (
            f'    p.add(\n        "{name}",\n        type=int,\n{extra}        help="x",\n    )\n'
        )
    odd = {
        "comment at the edge": "#        old\n",
        "shallow comment": "    # old\n",
        "text at the edge": '        s = """\nSELECT 1\n"""\n',
        "quote in a comment": '        # don\'t """ stop\n',
    }[kind]
    body = f"        m = 16\n{odd}        n = 32\n{'        w = 9' * edited}\n        return m\n\n"
    return f"    def {name}(self):\n{body}"


EXTRA = '    "W": 9,\n'
AROUND = {"json": ("{\n", '  "end": 0\n}\n'), "branch": ("def f(m):\n", "    return None\n")}
AROUND |= {"last line": ("def f(x):\n    if x is None:\n        m = 0\n", "    return m\n")}
AROUND |= {"call": ("def f(p):\n", "    return p\n")}


def sections(names: str, kind: str, edited: str = "") -> dict[str, bytes]:
    head, tail = AROUND.get(kind, ("class A:\n", ""))
    text = head + "".join(section(name, kind, name == edited) for name in names) + tail
    return {f"vllm/t.{'json' if kind == 'json' else 'py'}": text.encode()}


KINDS = [
    *("json", "branch", "comment at the edge", "shallow comment", "text at the edge"),
    *("quote in a comment", "last line", "call"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("upstream", ["bac", "bdc", "abc", "abcd", "dabc", "cab"])
@pytest.mark.parametrize("edited", ["a", "b"])
def test_no_section_is_edited_but_the_one(
    world: World, release: AddRelease, tmp_path: Path, kind: str, upstream: str, edited: str
) -> None:
    before, after = sections("abc", kind), sections("abc", kind, edited)
    release("2.0", before)
    release("2.1", sections(upstream, kind))
    patch = own_patch(tmp_path / "made", before, after, base="release:2.0")
    (world.root / "patches/own/hook.patch").write_bytes(patch)
    world.edit("series/sample.toml", "release:1.1", "release:2.1")
    try:
        lock = build(world.project, world.places, "sample").lock
    except ConflictError:
        assert upstream not in {"abc", "abcd"}
        return
    (path,) = before
    file = files(world.repository, lock.tree)[path]
    found = read_blobs(world.repository, [file.blob])[file.blob]
    assert found == sections(upstream, kind, edited)[path]


def test_an_equal_edit_of_a_twin_is_not_ours_landed(
    world: World, release: AddRelease, tmp_path: Path
) -> None:
    kind = "comment at the edge"
    release("2.0", sections("abc", kind))
    release("2.1", sections("bac", kind, "a"))
    patch = own_patch(
        tmp_path / "made", sections("abc", kind), sections("abc", kind, "b"), base="release:2.0"
    )
    (world.root / "patches/own/hook.patch").write_bytes(patch)
    world.edit("series/sample.toml", "release:1.1", "release:2.1")
    with pytest.raises(ConflictError):
        build(world.project, world.places, "sample")


def test_a_reworded_opening_is_no_other_place(
    world: World, release: AddRelease, tmp_path: Path
) -> None:
    before = b"def f(x):\n    if x in (1, 2):\n        y = 1\n        z = 2\n        return y\n"
    after = before.replace(b"        z = 2\n", b"        z = 2\n        w = 9\n")
    upstream = before.replace(b"x in (1, 2)", b"x == 1")
    release("2.0", {"vllm/t.py": before})
    release("2.1", {"vllm/t.py": upstream})
    patch = own_patch(
        tmp_path / "made", {"vllm/t.py": before}, {"vllm/t.py": after}, base="release:2.0"
    )
    (world.root / "patches/own/hook.patch").write_bytes(patch)
    world.edit("series/sample.toml", "release:1.1", "release:2.1")
    lock = build(world.project, world.places, "sample").lock
    assert [hunk.outcome for hunk in lock.entries[0].hunks] == ["merged"]
