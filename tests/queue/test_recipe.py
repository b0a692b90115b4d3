"""A fix as a recipe: it quotes no side, and gives exactly the bytes that were settled."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lanewright.queue.fix.recipe import MOST_BYTES, Own, RecipeError, Side, Span, expand
from lanewright.queue.fix.recipe_making import make
from lanewright.queue.fix.recipe_text import encode, parse
from lanewright.queue.merge.subset import split_lines
from lanewright.store.objects import NO_BLOB
from lanewright.store.safepath import UnsafePathError
from tests.upstream.diff import git

Sides = dict[Side, bytes | None]

SHORT = [b"", b"}", b"  )\r", b"\xe9", b"\0", b"+a", b"ours 1-2", b"\\ no newline at end", b"\x0c"]
LONG = [b"def one_method(self):", b"    return something", b"caf\xe9 au lait, s'il", b"\0" * 9]
LONG += [b"def one_method(self):\r", b"\\ no newline at end of it", b"theirs 1-2 of the two"]
TEXT = st.builds(
    lambda lines, end: b"\n".join(lines) + (end if lines else b""),
    st.lists(st.sampled_from(SHORT + LONG), max_size=16),
    st.sampled_from([b"\n", b""]),
)
CONTENT = st.none() | TEXT


def three(base: bytes | None, ours: bytes | None, theirs: bytes | None) -> Sides:
    return {"base": base, "ours": ours, "theirs": theirs}


SIDES = st.builds(three, CONTENT, CONTENT, CONTENT)


@st.composite
def settled(draw: st.DrawFn) -> tuple[Sides, bytes | None]:
    """Sides, and a result made of their pieces and of lines that only we have."""
    sides = draw(SIDES)
    pool = [[], *(split_lines(content) for content in sides.values() if content)]
    result: list[bytes] = []
    for _ in range(draw(st.integers(0, 5))):
        lines = draw(st.sampled_from(pool))
        start = draw(st.integers(0, len(lines)))
        result += lines[start : draw(st.integers(start, len(lines)))]
        result += draw(st.lists(st.sampled_from([b"ours alone, and long\n", b"\n", b"}\n"])))
    return sides, draw(st.sampled_from([b"".join(result), b"".join(result)[:-1], None]))


@settings(max_examples=300, deadline=None, database=None)
@given(settled() | st.tuples(SIDES, CONTENT))
@example(({"base": None, "ours": None, "theirs": None}, b""))
@example(({"base": b"", "ours": None, "theirs": b"a"}, None))
@example(({"base": b"a\nb", "ours": b"b\n", "theirs": b"a"}, b"a\nb\na"))
def test_what_was_settled_comes_back_and_quotes_no_side(case: tuple[Sides, bytes | None]) -> None:
    sides, result = case
    recipe = make("vllm/a b.py", "100755", sides, result)
    assert parse(encode(recipe), "a fix") == recipe
    assert expand(recipe, sides) == result
    theirs = {line for content in sides.values() for line in split_lines(content or b"")}
    own = [line for part in recipe.parts if isinstance(part, Own) for line in part.lines]
    assert all(line not in theirs or len(b"".join(line.split())) <= 8 for line in own)


def test_the_text_is_what_the_format_says() -> None:
    ours = b"the first line\nthe second\nthe third line\n"
    theirs = b"another line\nand another one\nwithout an end"
    result = b"the second\nthe third line\nand another one\ncaf\xe9 of our own\r\nno end, but ours"
    recipe = make("vllm/a.py", "100644", three(None, ours, theirs), result)
    assert encode(recipe) == (
        b"lanewright-fix 1\npath: vllm/a.py\n"
        b"base: %s\nours: %s\ntheirs: %s\nresult: %s\nmode: 100644\n\n"
        b"ours 2-3\ntheirs 2-2\n+caf\xe9 of our own\r\n+no end, but ours\n\\ no newline at end\n"
    ) % tuple(
        i.encode() for i in (recipe.base, recipe.ours, recipe.theirs, recipe.result)
    )  # fmt: skip


def test_ids_are_those_of_git(tmp_path: Path) -> None:
    recipe = make("a", "100644", {"base": None, "ours": b"a\r\n", "theirs": b""}, b"\xe9")
    for content, found in ((b"a\r\n", recipe.ours), (b"", recipe.theirs), (b"\xe9", recipe.result)):
        assert git(tmp_path, "hash-object", "--stdin", stdin=content).decode().strip() == found
    assert recipe.base == NO_BLOB


def test_a_removed_file_and_an_empty_one_are_two_things() -> None:
    sides: Sides = {"base": b"a\n", "ours": b"b\n", "theirs": None}
    removed, emptied = (make("a.py", "100644", sides, result) for result in (None, b""))
    assert removed.parts == emptied.parts == ()
    assert expand(parse(encode(removed), "f"), sides) is None
    assert expand(parse(encode(emptied), "f"), sides) == b""


SOME: Sides = {"base": b"a\n", "ours": b"b\n", "theirs": b"c\n"}


@pytest.mark.parametrize("side", ["base", "ours", "theirs"])
@pytest.mark.parametrize("content", [b"a \n", b"", None])
def test_a_side_that_moved_is_named(side: Side, content: bytes | None) -> None:
    recipe = make("vllm/a.py", "100644", SOME, b"c\n")
    with pytest.raises(
        RecipeError, match=rf"vllm/a\.py: the fix is bound to another {side}: "
    ) as e:
        expand(recipe, {**SOME, side: content})
    assert e.value.hint


@pytest.mark.parametrize("span", [Span("ours", 1, 2), Span("ours", 2, 2), Span("ours", 0, 1)])
def test_a_span_beyond_the_end_is_refused(span: Span) -> None:
    recipe = replace(make("a.py", "100644", SOME, b"d\n"), parts=(span,))
    wanted = f"a.py: the fix takes lines {span.first}-{span.last} of ours, which has 1"
    with pytest.raises(RecipeError, match=re.escape(wanted)):
        expand(recipe, SOME)


def test_an_edited_recipe_is_told_by_its_result() -> None:
    recipe = make("a.py", "100644", SOME, b"b\nd\n")
    edited = parse(encode(recipe).replace(b"+d", b"+e"), "f")
    with pytest.raises(RecipeError, match=f"not the result that it names: {recipe.result}"):
        expand(edited, SOME)


def test_a_recipe_that_asks_for_too_much_is_refused_before_it_is_made() -> None:
    sides: Sides = {**SOME, "ours": b"long line\n" * 100_000}
    recipe = make("a.py", "100644", sides, b"")
    with pytest.raises(RecipeError, match=f"gives more than {MOST_BYTES} bytes"):
        expand(replace(recipe, parts=(Span("ours", 1, 100_000),) * 1_000_000), sides)
    with pytest.raises(RecipeError, match="too large for a fix"):
        make("a.py", "100644", sides, bytes(MOST_BYTES + 1))


def test_what_no_fix_may_settle_is_refused_when_it_is_made() -> None:
    with pytest.raises(RecipeError, match="mode 120000"):
        make("a", "120000", SOME, b"c")
    with pytest.raises(UnsafePathError):
        make("../a", "100644", SOME, b"c")
