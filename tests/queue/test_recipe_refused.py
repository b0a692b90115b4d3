"""Fixes that are refused: damaged, converted, or not what lanewright writes."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanewright.queue.fix.recipe import MOST_BYTES, RecipeError
from lanewright.queue.fix.recipe_text import encode, parse
from tests.upstream.diff import git

A, B, C, D, ZEROS = (digit * 40 for digit in (b"a", b"b", b"c", b"d", b"0"))
HEAD = b"lanewright-fix 1\npath: vllm/x.py\nbase: " + ZEROS + b"\nours: " + B + b"\ntheirs: " + C
HEAD += b"\nresult: " + D + b"\nmode: 100644\n\n"
BODY = b"ours 1-2\n+one\n+two\ntheirs 3-3\n+last\n\\ no newline at end\n"
FIX = HEAD + BODY


def test_the_sample_itself_is_taken() -> None:
    assert encode(parse(FIX, "x.fix")) == FIX


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        (b"lanewright-fix 1", b"lanewright-fix 2", 1, "another version|'lanewright-fix 2' where"),
        (b"lanewright-fix 1", b"\xef\xbb\xbflanewright-fix 1", 1, "'lanewright-fix 1' must be"),
        (b"lanewright-fix 1\n", b"", 1, "'path: vllm/x.py' where"),
        (b"vllm/x.py", b"../x.py", 2, r"the path '\.\./x\.py' has the part"),
        (b"vllm/x.py", b"/etc/x", 2, "absolute"),
        (b"vllm/x.py", b".git/hooks/x", 2, "git's own folder"),
        (b"vllm/x.py", b"vllm/\xe9.py", 2, "no UTF-8"),
        (b"vllm/x.py", b"", 2, "empty"),
        (b"base: ", b"base : ", 3, "is none of `path:`, `base:`"),
        (b"base: ", b"base:", 3, "is none of"),
        (b"base: ", b"Base: ", 3, "is none of"),
        (b"ours: ", b"author: me\nours: ", 4, "'author: me' is none of"),
        (b"ours: " + B + b"\n", b"", 4, "`theirs:` where `ours:` must be"),
        (b"ours: " + B, b"base: " + B, 4, "`base:` for the second time"),
        (B, B[:-1], 4, "no full object id of 40 digits"),
        (B, B.upper(), 4, "no full object id"),
        (B, B + b" ", 4, "no full object id"),
        (b"100644", b"120000", 7, "the mode '120000'"),
        (b"100644", b"644", 7, "the mode '644'"),
        (b"100644\n\n", b"100644\n", 8, "'ours 1-2' is none of"),
        (b"ours 1-2", b"ours 0-2", 9, "lines count from 1"),
        (b"ours 1-2", b"ours 3-2", 9, "lines count from 1"),
        (b"ours 1-2", b"ours 1", 9, "neither lines of a side nor"),
        (b"ours 1-2", b"ours 01-2", 9, "neither"),
        (b"ours 1-2", b"ours -1-2", 9, "neither"),
        (b"ours 1-2", b"ours 1-2 ", 9, "neither"),
        (b"ours 1-2", b"ours 1-9999999999", 9, "neither"),
        (b"ours 1-2", "ours 1-\u0662".encode(), 9, "neither"),
        (b"ours 1-2", b"mine 1-2", 9, "neither"),
        (b"ours 1-2", b"base 1-2", 9, "base does not have the file"),
        (b"+one\n", b"\n", 10, "neither"),
        (b"+one\n", b"one\n", 10, "neither"),
        (b"+one\n", b"\\ no newline at end\n", 10, "must follow a line of its own"),
        (b"+last\n", b"+\n", 14, "must follow a line of its own"),
        (b"+last\n", b"ours 1-2\n", 14, "must follow a line of its own"),
        (b"+two\n", b"+two\n\\ no newline at end\n", 13, "after the line without a newline"),
        (b"at end\n", b"at end\n\n", 15, "after the line without a newline"),
        (b"at end\n", b"at end", 14, "ends within a line"),
        (b"at end\n", b"at end\n\x1a", 15, "after the line"),
        (D, ZEROS, 9, "'ours 1-2', though the file is removed"),
    ],
)
def test_damage_is_named_by_file_and_line(old: bytes, new: bytes, line: int, message: str) -> None:
    assert old in FIX
    with pytest.raises(RecipeError, match=message) as error:
        parse(FIX.replace(old, new, 1), "a/x.fix")
    assert str(error.value).startswith(f"a/x.fix: line {line}: ")


@pytest.mark.parametrize("end", [0, 10, len(HEAD) - 1, len(HEAD) - 30])
def test_a_header_that_is_cut_off_is_refused(end: int) -> None:
    with pytest.raises(RecipeError, match=r"^x\.fix: "):
        parse(FIX[:end], "x.fix")


def test_a_header_that_ends_early_names_what_is_missing() -> None:
    with pytest.raises(RecipeError, match="the header ends without `mode:`"):
        parse(HEAD.replace(b"mode: 100644\n", b""), "x.fix")


def test_git_converts_a_fix_only_where_the_attributes_do_not_forbid_it(tmp_path: Path) -> None:
    attributes = Path(__file__).parents[2] / ".gitattributes"
    for rules in (attributes.read_bytes(), b""):
        work = tmp_path / f"rules {len(rules)}"
        work.mkdir()
        git(work, "init", "--quiet")
        (work / ".gitattributes").write_bytes(rules)
        (work / "x.fix").write_bytes(HEAD + b"+one\n")
        git(work, "add", "--all")
        (work / "x.fix").unlink()
        git(work, "-c", "core.autocrlf=true", "checkout", "x.fix")
        content = (work / "x.fix").read_bytes()
        if rules:
            assert encode(parse(content, "x.fix")) == content
            continue
        with pytest.raises(RecipeError, match=r"x\.fix: its lines end in CRLF") as error:
            parse(content, "x.fix")
        assert "`*.fix -text` in .gitattributes" in (error.value.hint or "")


@pytest.mark.parametrize(
    "content",
    [
        b"x" * 1_000_000,
        b"\n" * 1_000_000,
        FIX + b"+" * 1_000_000,
        HEAD + b"ours " + b"9" * 1_000_000 + b"\n",
        HEAD.replace(B, b"b" * 1_000_000),
        HEAD.replace(b"base: ", b"\xff" * 1_000_000),
        HEAD + b"+" + b"x" * MOST_BYTES + b"\n",
    ],
    ids=["one line", "blank lines", "no end", "number", "id", "key", "too long"],
)
def test_hostile_input_gets_a_short_answer(content: bytes) -> None:
    with pytest.raises(RecipeError) as error:
        parse(content, "x.fix")
    assert len(str(error.value)) < 400


@settings(max_examples=300, deadline=None, database=None)
@given(at=st.integers(0, len(FIX)), cut=st.integers(0, 9), new=st.binary(max_size=5))
def test_damage_is_refused_or_read_as_it_stands(at: int, cut: int, new: bytes) -> None:
    damaged = FIX[:at] + new + FIX[at + cut :]
    try:
        recipe = parse(damaged, "x.fix")
    except RecipeError:
        return
    assert encode(recipe) == damaged
