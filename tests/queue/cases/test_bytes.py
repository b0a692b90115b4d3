"""Bytes go through as they are: line ends, the end of a file, other encodings.

`tests/queue/test_patchfile.py` reads more of them from own patches, and `test_subset.py` has
hypothesis make contents that end in every way.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest

from lanewright.store.git import create
from lanewright.store.objects import read_blobs
from lanewright.store.write import write_blobs
from tests.queue.cases.lane import KINDS, Kind, Lane, carried

FILE = "vllm/x.py"
LINES = b"".join(b"line_%d = 0\n" % number for number in range(20))
FIRST, LAST = LINES.replace(b"line_1 =", b"one ="), LINES.replace(b"line_18 =", b"eighteen =")
BOTH = FIRST.replace(b"line_18 =", b"eighteen =")

Capture = pytest.CaptureFixture[str]


def crlf(text: bytes) -> bytes:
    return text.replace(b"\n", b"\r\n")


MIXED = crlf(LINES[:120]) + LINES[120:]
# Per file: the base, the change, upstream, and what is to come of the two.
ENDS = {
    "vllm/crlf.py": (crlf(LINES), crlf(FIRST), crlf(LAST), crlf(BOTH)),
    "vllm/mixed.py": (
        MIXED,
        MIXED.replace(b"line_1 =", b"one ="),
        MIXED.replace(b"line_18 =", b"eighteen ="),
        MIXED.replace(b"line_1 =", b"one =").replace(b"line_18 =", b"eighteen ="),
    ),
    "vllm/only.py": (LINES, crlf(LINES), LINES, crlf(LINES)),
    "vllm/back.py": (crlf(LINES), LINES, crlf(LINES), LINES),
    "vllm/lone.txt": (b"a\rb\nc\n", b"a\rB\nc\n", b"a\rb\nc\n", b"a\rB\nc\n"),
    "vllm/odd.txt": (
        b"a\x0cb\x1c\xc2\x85\nx\n",
        b"a\x0cb\x1c\xc2\x85\ny\n",
        b"a\x0cb\x1c\xc2\x85\nx\n",
        b"a\x0cb\x1c\xc2\x85\ny\n",
    ),
}
RULES = {"vllm/.gitattributes": b"* text=auto eol=crlf\n*.txt working-tree-encoding=UTF-16\n"}


def side(table: Mapping[str, tuple[bytes, ...]], number: int) -> dict[str, bytes]:
    return {path: each[number] for path, each in table.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_crlf_is_kept_whatever_is_set(lane: Lane, tmp_path: Path, kind: Kind) -> None:
    lane.upstream.run("config", "core.autocrlf", "true")
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.gitconfig").write_text("[core]\n\tautocrlf = true\n\teol = crlf\n")
    before, after, upstream, wanted = ({**side(ENDS, number), **RULES} for number in range(4))
    assert carried(lane, kind, before, after, upstream) == 0
    assert lane.read() == wanted


ENDLESS = {
    "vllm/removed.py": (LINES, BOTH[:-1]),
    "vllm/added.py": (LINES[:-1], BOTH),
    "vllm/lacking.py": (LINES[:-1], BOTH[:-1] + b" + 1"),
    "vllm/one.txt": (b"a", b"b"),
    "vllm/only.txt": (b"a\n", b"a"),
    "vllm/blank.txt": (b"", b"\n"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_no_newline_at_end(lane: Lane, kind: Kind) -> None:
    before, after = side(ENDLESS, 0), side(ENDLESS, 1)
    assert carried(lane, kind, before, after, before) == 0
    assert lane.read() == after
    first = {hunk.path: hunk.id for hunk in reversed(lane.hunks()) if hunk.path.endswith(".py")}
    lane.select(*(f"{path}:{name}" for path, name in first.items()))
    edited = {path: before[path].replace(b"line_1 =", b"one =") for path in first}
    assert lane.read(lane.applied().lock.tree) == {**before, **edited}


@pytest.mark.parametrize("content", [b"\n", b"\n\n\n", b"a\n\n\n", b"a", b" \n", b"\0\n\n", b""])
def test_stripped_output_is_not_possible(tmp_path: Path, content: bytes) -> None:
    repository = create(tmp_path / "objects.git")
    (blob,) = write_blobs(repository, [content])
    assert repository.run("cat-file", "blob", blob).stdout == content
    assert read_blobs(repository, [blob]) == {blob: content}


@pytest.mark.parametrize("kind", KINDS)
def test_stripped_output_would_show_in_a_change_of_the_last_line(lane: Lane, kind: Kind) -> None:
    before = {"vllm/a.txt": b"a\n", "vllm/b.txt": b"b\n\n\n"}
    after = {"vllm/a.txt": b"a\n\n\n", "vllm/b.txt": b"b\n"}
    assert carried(lane, kind, before, after, {**before, FILE: LINES}) == 0
    assert lane.read() == {**after, FILE: LINES}


END = b"tail = 1\n"
LATIN = b"# -*- coding: latin-1 -*-\n" + LINES + b"s = '\xe9'\n"


@pytest.mark.parametrize("kind", KINDS)
def test_latin_1_source_goes_through(lane: Lane, kind: Kind) -> None:
    edit, move = (b"'\xe9'", b"'\xe8\xff'"), (b"line_1 =", b"one =")
    after, upstream = LATIN.replace(*edit), LATIN.replace(*move)
    assert carried(lane, kind, {FILE: LATIN}, {FILE: after}, {FILE: upstream}) == 0
    assert lane.read() == {FILE: LATIN.replace(*edit).replace(*move)}


def test_latin_1_source_is_shown_with_marks(lane: Lane, capfd: Capture) -> None:
    after = LATIN.replace(b"'\xe9'", b"'\xe8'")
    assert carried(lane, "patch", {FILE: LATIN}, {FILE: after}, {FILE: LATIN}) == 0
    capfd.readouterr()
    assert lane.run("show", "sample", "hook") == 0
    assert "+s = '\ufffd'" in capfd.readouterr().out


def test_latin_1_source_is_shown_with_marks_where_it_landed_with_edits(lane: Lane) -> None:
    added = b"def f(rows):\n    total = '\xe9'\n    return total, rows, 1\n"
    before, after = LATIN + END, LATIN + added + END
    upstream = LATIN + added.replace(b", 1", b", 2") + END
    assert carried(lane, "pull", {FILE: before}, {FILE: after}, {FILE: upstream}) == 3
    (hunk,) = lane.hunks()
    assert hunk.outcome == "landed changed"
    assert "     total = '\ufffd'" in hunk.difference
