"""Hunk ids name content and place, not line numbers."""

from pathlib import Path

import pytest

from lanewright.queue.merge.hunkid import hunk_ids
from lanewright.queue.merge.outline import openings, symbol_of
from lanewright.queue.merge.subset import split_lines
from lanewright.queue.patch.patchfile import read
from tests.upstream.diff import own_patch

SOURCE = b'''\
import os

LIMIT = 1


def free(
    first: int,
    second: dict[
        str, int
    ],
) -> int:
    """Text.

    More text.
    """
    return first


class Outer(
    Base,
):
    field: int = 0

    @property
    @cache
    def one(self):
        if self.field:
            return [
                1,
            ]
        return {
            "a": 1,
        }

    async def two(self):
        async with self.lock:
            return [
                1,
            ]

    class Inner:
        def deep(self):
            def closure():
                return 1

            return closure

        tail = 1


def last():
\treturn 1


STOP = 1
'''


def ids(folder: Path, before: bytes, after: bytes, context: str = "-U3") -> list[tuple[str, str]]:
    file = folder / "x.patch"
    trees = ({"vllm/x.py": before}, {"vllm/x.py": after})
    file.write_bytes(own_patch(folder / "made", *trees, context, base="release:1.0"))
    [patched] = read(file).files
    return hunk_ids(patched.path, split_lines(before), patched.hunks)


@pytest.mark.parametrize(
    ("old", "new", "symbol"),
    [
        ("import os\n", "import sys\n", ""),
        ("LIMIT = 1\n", "LIMIT = 2\n", ""),
        ("    first: int,\n", "    first: str,\n", "free"),
        ("        str, int\n", "        str, str\n", "free"),
        ("    More text.\n", "    Other text.\n", "free"),
        ("    return first\n", "    return second\n", "free"),
        ("def free(\n", "def bound(\n", ""),
        ("    field: int = 0\n", "    field: int = 1\n", "Outer"),
        ("    @cache\n", "", "Outer"),
        ("    def one(self):\n", "    def uno(self):\n", "Outer"),
        ("        if self.field:\n", "        if not self.field:\n", "Outer.one"),
        ('            "a": 1,\n', '            "a": 2,\n', "Outer.one"),
        ("        async with self.lock:\n", "        async with self.key:\n", "Outer.two"),
        (
            "                return 1\n\n",
            "                return 2\n\n",
            "Outer.Inner.deep.closure",
        ),
        ("            return closure\n", "            return None\n", "Outer.Inner.deep"),
        ("        tail = 1\n", "        tail = 2\n", "Outer.Inner"),
        ("\treturn 1\n", "\treturn 2\n", "last"),
        ("STOP = 1\n", "STOP = 2\n", ""),
        ("STOP = 1\n", "STOP = 1\nMORE = 1\n", ""),
        ("    return first\n", "    return first\n    # more\n", "free"),
    ],
)
@pytest.mark.parametrize("context", ["-U3", "-U0"])
def test_the_enclosing_definition_is_named(
    tmp_path: Path, old: str, new: str, symbol: str, context: str
) -> None:
    assert SOURCE.count(old.encode()) == 1
    after = SOURCE.replace(old.encode(), new.encode())
    [(_, found)] = ids(tmp_path, SOURCE, after, context)
    assert found == symbol


def test_edits_elsewhere_in_the_file_change_no_id(tmp_path: Path) -> None:
    after = SOURCE.replace(b"        tail = 1\n", b"        tail = 2\n")
    [before_move] = ids(tmp_path, SOURCE, after)
    top = b"# a licence\n" * 40
    [after_move] = ids(tmp_path, top + SOURCE, top + after)
    assert before_move == after_move


def test_context_lines_change_no_id(tmp_path: Path) -> None:
    after = SOURCE.replace(b"    return first\n", b"    return second\n")
    [alone] = ids(tmp_path, SOURCE, after)
    other = (b"    More text.\n", b"    Other text.\n")
    [moved] = ids(tmp_path, SOURCE.replace(*other), after.replace(*other))
    assert alone == moved
    assert ids(tmp_path, SOURCE, after, "-U0") == [alone]


def test_equal_hunks_in_two_methods_differ(tmp_path: Path) -> None:
    after = SOURCE.replace(b"                1,\n", b"                2,\n")
    (first, one), (second, two) = ids(tmp_path, SOURCE, after)
    assert (one, two) == ("Outer.one", "Outer.two")
    assert first != second


def test_equal_hunks_in_one_method_are_told_apart_by_order(tmp_path: Path) -> None:
    source = b"def f():\n" + b"    x = 1\n" + b"".join(b"    a%d\n" % i for i in range(9))
    source += b"    x = 1\n" + b"    end\n"
    (first, _), (second, _) = ids(tmp_path, source, source.replace(b"x = 1", b"x = 2"))
    assert first != second
    only_first = source.replace(b"x = 1", b"x = 2", 1)
    assert ids(tmp_path, source, only_first)[0][0] == first


@pytest.mark.parametrize("other", [b"x = 1\r\n", b" x = 1\n", b"x = 1 \n", b"x  = 1\n", b"x = 1"])
def test_blanks_and_line_ends_count(tmp_path: Path, other: bytes) -> None:
    before = b"".join(b"a%d\n" % i for i in range(5))
    [(first, _)] = ids(tmp_path, before, before + b"x = 1\n")
    [(second, _)] = ids(tmp_path, before, before + other)
    assert first != second


def test_same_content_in_two_files_differs(tmp_path: Path) -> None:
    file = tmp_path / "x.patch"
    trees = ({"a.py": b"x\n", "b.py": b"x\n"}, {"a.py": b"y\n", "b.py": b"y\n"})
    file.write_bytes(own_patch(tmp_path / "made", *trees, base="release:1.0"))
    first, second = (hunk_ids(f.path, [b"x\n"], f.hunks)[0][0] for f in read(file).files)
    assert first != second


def test_an_empty_file_and_one_past_the_end() -> None:
    assert symbol_of(openings("a.py", [], 0, [b"    x\n"])) == ""
    assert symbol_of(openings("a.py", [b"def f():\n", b"    a\n"], 2, [b"    b\n"])) == "f"
