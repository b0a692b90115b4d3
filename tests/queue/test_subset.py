"""Chosen hunks on their own base: what editing by hand gives, or an error."""

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lanewright.queue.merge.subset import BaseMismatchError, apply, split_lines
from lanewright.queue.patch.diff import FilePatch
from lanewright.queue.patch.patchfile import read
from tests.upstream.diff import HEADER

HEAD = HEADER.format(base="release:1.0").encode() + b"\n"


@contextmanager
def diffed(before: bytes, after: bytes, context: int) -> Iterator[FilePatch | None]:
    """What real git says of two contents; None where they are equal."""
    with tempfile.TemporaryDirectory() as folder:
        for side, content in (("a", before), ("b", after)):
            Path(folder, side).mkdir()
            Path(folder, side, "x.py").write_bytes(content)
        diff = subprocess.run(
            ["git", "diff", "--no-index", "--no-prefix", "--full-index", "--text",
             f"-U{context}", "a/x.py", "b/x.py"],
            cwd=folder, capture_output=True, check=False,
        ).stdout  # fmt: skip
        patch = Path(folder, "x.patch")
        patch.write_bytes(HEAD + diff)
        yield read(patch).files[0] if diff else None


def put(before: bytes, file: FilePatch, numbers: Sequence[int]) -> bytes:
    """The file with only the hunks of these numbers."""
    hunks = [hunk for hunk in file.hunks if hunk.number in numbers]
    return apply(split_lines(before), file, hunks, source="a patch", base_name="its base")


# A small alphabet makes equal lines, where a tool that searches for context goes wrong.
LINE = st.sampled_from([b"a", b"b", b"", b"}", b"    x", b"a\r", b"\xe9", b"\x0c", b"-- a", b"\\"])
TEXT = st.builds(
    lambda lines, end: b"\n".join(lines) + (end if lines else b""),
    st.lists(LINE, max_size=14),
    st.sampled_from([b"\n", b""]),
)


@settings(max_examples=120, deadline=None, database=None)
@given(before=TEXT, after=TEXT, context=st.integers(0, 3))
@example(before=b"a\na\na\n", after=b"a\na\n", context=0)
@example(before=b"a", after=b"a\n", context=3)
@example(before=b"", after=b"\n", context=0)
def test_all_hunks_that_git_made_give_the_target(before: bytes, after: bytes, context: int) -> None:
    with diffed(before, after, context) as file:
        if file is None:
            assert before == after
        else:
            assert put(before, file, range(1, len(file.hunks) + 1)) == after
            assert put(before, file, []) == before


@dataclass(frozen=True)
class Edit:
    """Take ``removed`` lines away at ``start`` and bring ``added`` in."""

    start: int
    removed: int
    added: tuple[bytes, ...]


@st.composite
def edited(draw: st.DrawFn) -> tuple[list[bytes], list[Edit], bool]:
    """Numbered lines, and edits far enough apart for git to see one hunk each."""
    base: list[bytes] = []
    edits = []
    for number in range(draw(st.integers(1, 4))):
        gap = draw(st.integers(8, 11) if number else st.integers(0, 4))
        base += [b"line %d" % (len(base) + i) for i in range(gap)]
        removed = draw(st.integers(0, 3))
        added = draw(st.integers(0 if removed else 1, 3))
        edits.append(
            Edit(len(base), removed, tuple(b"new %d.%d" % (number, i) for i in range(added)))
        )
        base += [b"line %d" % (len(base) + i) for i in range(removed)]
    base += [b"line %d" % (len(base) + i) for i in range(draw(st.integers(1, 9)))]
    return base, edits, draw(st.booleans())


def by_hand(base: Sequence[bytes], edits: Sequence[Edit], end: bytes) -> bytes:
    """Edit from the last line up, so that no edit moves the place of another."""
    lines = list(base)
    for edit in reversed(edits):
        lines[edit.start : edit.start + edit.removed] = edit.added
    return b"\n".join(lines) + end


@settings(max_examples=80, deadline=None, database=None)
@given(made=edited(), context=st.integers(0, 3), data=st.data())
def test_every_subset_equals_editing_by_hand(
    made: tuple[list[bytes], list[Edit], bool], context: int, data: st.DataObject
) -> None:
    base, edits, newline = made
    end = b"\n" if newline else b""
    before = by_hand(base, [], end)
    chosen = data.draw(st.sets(st.integers(1, len(edits))), label="chosen hunks")
    with diffed(before, by_hand(base, edits, end), context) as file:
        assert file
        assert len(file.hunks) == len(edits)
        wanted = [edit for number, edit in enumerate(edits, 1) if number in chosen]
        assert put(before, file, sorted(chosen)) == by_hand(base, wanted, end)


BEFORE = b"".join(b"line %d\n" % number for number in range(20))
AFTER = BEFORE.replace(b"line 5\n", b"five\n").replace(b"line 15\n", b"15a\n15b\n")


@pytest.mark.parametrize(
    ("stale", "line", "has"),
    [
        (BEFORE.replace(b"line 5\n", b"other\n"), 6, "'other\\n'"),
        (BEFORE.replace(b"line 3\n", b"line 3 \n"), 4, "'line 3 \\n'"),
        (b"one more\n" + BEFORE, 3, "'line 1\\n'"),
        (BEFORE.replace(b"\n", b"\r\n"), 3, "'line 2\\r\\n'"),
        (BEFORE[:-1], None, ""),  # beyond any hunk
        (b"line 0\nline 1\nline 2\n", 4, "the file ends"),
        (b"", 3, "the file ends"),
    ],
)
def test_a_base_that_differs_is_named_by_line(stale: bytes, line: int | None, has: str) -> None:
    with diffed(BEFORE, AFTER, 3) as file:
        assert file
        if line is None:
            put(stale, file, [1, 2])
            return
        with pytest.raises(BaseMismatchError, match=rf"hunk 1: .*its base at line {line}") as e:
            put(stale, file, [1, 2])
        assert has in str(e.value)
        assert "git diff --full-index" in (e.value.hint or "")


def test_hunks_that_overlap_or_go_back_are_refused() -> None:
    with diffed(BEFORE, AFTER, 0) as file:
        assert file
        backwards = FilePatch(**{**vars(file), "hunks": file.hunks[::-1]})
        with pytest.raises(BaseMismatchError, match="overlaps the hunk before it"):
            put(BEFORE, backwards, [1, 2])
        with pytest.raises(BaseMismatchError, match="overlaps the hunk before it"):
            apply(split_lines(BEFORE), file, [file.hunks[0]] * 2, source="p", base_name="b")


def test_an_insertion_beyond_the_end_is_refused() -> None:
    with diffed(BEFORE, BEFORE + b"more\n", 0) as file:
        assert file
        with pytest.raises(BaseMismatchError, match="hunk 1: cannot insert after line 20"):
            put(b"line 0\n", file, [1])


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"\n", [b"\n"]),
        (b"a", [b"a"]),
        (b"a\n\nb", [b"a\n", b"\n", b"b"]),
        (b"a\r\nb\rc\n", [b"a\r\n", b"b\rc\n"]),
        (b"\x0b\x0c\x1c\xc2\x85\xe2\x80\xa8\n", [b"\x0b\x0c\x1c\xc2\x85\xe2\x80\xa8\n"]),
    ],
)
def test_only_a_line_feed_ends_a_line(content: bytes, lines: list[bytes]) -> None:
    assert split_lines(content) == lines
