"""Which spans a recipe is made of: few, ours where it can be, and never a line that a side has."""

from collections.abc import Callable, Sequence

import pytest

from lanewright.queue.fix.recipe import Own, Side, Span, expand
from lanewright.queue.fix.recipe_making import make

Lines = Sequence[bytes]


def three(base: Lines, ours: Lines, theirs: Lines) -> dict[Side, bytes | None]:
    return {"base": b"".join(base), "ours": b"".join(ours), "theirs": b"".join(theirs)}


def numbered(name: str, count: int) -> list[bytes]:
    return [b"%s line number %d\n" % (name.encode(), i) for i in range(1, count + 1)]


BASE = numbered("a", 60)
MINE = numbered("mine", 3)
OTHER = numbered("other", 9)
SPANS: dict[str, tuple[Lines, Lines, Lines, list[Span | Own]]] = {
    "ours where all have it": (BASE, BASE, BASE[:59] + MINE, [Span("ours", 1, 59), Own((*MINE,))]),
    "both": (
        BASE[:30] + MINE + BASE[30:], BASE[:30] + OTHER + BASE[30:],
        BASE[:30] + MINE + OTHER + BASE[30:],
        [Span("ours", 1, 33), Span("theirs", 31, 39), Span("ours", 34, 63)],
    ),
    "a line of theirs far from their others": (
        BASE[:29] + MINE + BASE[30:], OTHER + BASE, BASE[:29] + BASE[29:30] + BASE[30:] + MINE,
        [Span("ours", 1, 29), Span("theirs", 39, 39), Span("ours", 33, 62), Span("ours", 30, 32)],
    ),
    "what both took away": (
        BASE[:10], BASE[50:], MINE + BASE,
        [Own((*MINE,)), Span("ours", 1, 10), Span("base", 11, 50), Span("theirs", 1, 10)],
    ),
    "a block of theirs, though ours has a line of it": (
        BASE + OTHER[4:5], BASE[:30] + OTHER + BASE[30:], BASE[:30] + OTHER + BASE[30:] + MINE,
        [Span("ours", 1, 30), Span("theirs", 31, 39), Span("ours", 31, 60), Own((*MINE,))],
    ),
    "short lines among our own": (
        [*BASE, b"\n", b")\n"], BASE, [*BASE, *MINE[:1], b")\n", b"\n", *MINE[1:]],
        [Span("ours", 1, 60), Own((MINE[0], b")\n", b"\n", *MINE[1:]))],
    ),
    "an indent that differs is another line": (
        BASE, BASE, [*BASE[:5], b" " + BASE[5], *BASE[6:]],
        [Span("ours", 1, 5), Own((b" " + BASE[5],)), Span("ours", 7, 60)],
    ),
    "theirs whole": (BASE + MINE, BASE + OTHER, BASE + OTHER, [Span("theirs", 1, 69)]),
    "neither change": (BASE + MINE, BASE[:9], BASE, [Span("base", 1, 60)]),
}  # fmt: skip


@pytest.mark.parametrize("case", SPANS)
def test_spans_are_what_a_reviewer_expects(case: str) -> None:
    ours, theirs, result, parts = SPANS[case]
    sides = three(BASE, ours, theirs)
    assert list(make("a.py", "100644", sides, b"".join(result)).parts) == parts


@pytest.mark.parametrize(
    "value",
    [lambda _: 0, lambda i: i % 7, int.bit_count, lambda i: i.bit_count() % 3, lambda i: i],
    ids=["all equal", "in turn", "few", "three, never in turn", "none equal"],
)
def test_a_long_file_of_few_different_lines_needs_few_parts(value: Callable[[int], int]) -> None:
    lines = [b"the value of the table is %d,\n" % value(i) for i in range(12_000)]
    sides = three(lines, lines, lines)
    result = [*lines[:3_000], *MINE, *lines[3_500:9_000], *OTHER, *lines[9_001:]]
    recipe = make("a.py", "100644", sides, b"".join(result))
    assert expand(recipe, sides) == b"".join(result)
    assert len(recipe.parts) <= 8
    own = [part.lines for part in recipe.parts if isinstance(part, Own)]
    assert own == [(*MINE,), (*OTHER,)]


def test_a_moved_block_begins_at_a_line_that_stands_everywhere() -> None:
    blocks = [[b"    def run(self) -> None:\n", *numbered(f"method {i}", 3)] for i in range(50)]
    ours = [line for block in blocks for line in block]
    result = b"".join([*ours[:4], *MINE, *blocks[40], *OTHER, *ours[4:]])
    recipe = make("a.py", "100644", three([], ours, []), result)
    assert recipe.parts == (
        Span("ours", 1, 4),
        Own((*MINE,)),
        Span("ours", 161, 164),
        Own((*OTHER,)),
        Span("ours", 5, 200),
    )
