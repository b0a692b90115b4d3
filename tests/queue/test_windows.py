"""Hunks of a large file are tried in windows: what is said of them is what the whole file tells."""

import functools
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lanewright.queue.lock import HunkState
from lanewright.queue.merge import outcomes as module
from lanewright.queue.merge.outcomes import outcomes
from lanewright.queue.merge.outline import Outline, openings
from lanewright.queue.merge.trying import tried
from lanewright.queue.merge.units import read_on_base
from lanewright.queue.pull.pulldiff import pull_diff
from lanewright.store.git import Repository, create
from lanewright.store.objects import EMPTY, TreeId, files
from lanewright.store.trees import edit_tree
from lanewright.store.write import Content, store_files

KEPT, EDITED, REMOVED, ADDED = "kept", "edited", "removed", "added"
STEP = st.sampled_from([KEPT] * 8 + [EDITED, REMOVED, ADDED])


@st.composite
def sides(draw: st.DrawFn) -> tuple[bytes, bytes, bytes]:
    """A file's base, and what two people made of it; no line stands twice in one of them."""
    size = draw(st.integers(1, 60))
    texts: list[list[bytes]] = [[], [], []]
    for number in range(size):
        line = b"%sline_%d = 0\n" % (b"    " * (number % 7 > 0), number)
        texts[0].append(line)
        for who in (1, 2):
            step = draw(STEP)
            same = draw(st.integers(0, 3)) == 0
            mark = b"both" if same else b"%d" % who
            texts[who] += [] if step == REMOVED else [line]
            if step == EDITED:
                texts[who][-1] = line.replace(b"= 0", b"= %s" % mark)
            if step == ADDED:
                texts[who].append(b"new_%d_%s = 0\n" % (number, mark))
    base, ours, theirs = (b"".join(lines) for lines in texts)
    return base, ours, theirs


def tree_of(repository: Repository, texts: Sequence[bytes]) -> TreeId:
    named = {f"vllm/{number}.txt": Content("100644", raw) for number, raw in enumerate(texts)}
    return edit_tree(repository, EMPTY, store_files(repository, named))


def states(repository: Repository, trees: Sequence[TreeId]) -> list[HunkState]:
    base, ours, theirs = trees
    on_base = read_on_base(repository, pull_diff(repository, base, theirs, "#1"), base, "base")
    chosen = frozenset(unit.id for unit in on_base.units)
    current = files(repository, ours)
    return outcomes(repository, on_base, chosen, current, current, {})


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return create(tmp_path_factory.mktemp("windows") / "objects.git")


BLOCKS = [b"%sline_%d = 0\n" % (b"    " * (number % 7 > 0), number) for number in range(30)]
# Upstream took out the line that opens the block of the change; the block before it begins above
# the window.
OPENING_GONE = (
    b"".join(BLOCKS),
    b"".join(BLOCKS[:7] + BLOCKS[8:]),
    b"".join(BLOCKS).replace(b"line_13 = 0", b"line_13 = 2"),
)


@example(made=[OPENING_GONE], margin=8)
@settings(max_examples=15, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(made=st.lists(sides(), min_size=8, max_size=8), margin=st.integers(4, 12))
def test_a_window_tells_what_the_whole_file_tells(
    repository: Repository, made: list[tuple[bytes, bytes, bytes]], margin: int
) -> None:
    trees = [tree_of(repository, [each[side] for each in made]) for side in range(3)]
    if trees[0] in trees[1:]:
        return
    expected = states(repository, trees)
    with pytest.MonkeyPatch.context() as patch:
        small = functools.partial(tried, most=0, margin=margin)
        patch.setattr(module, "tried", small)
        assert states(repository, trees) == expected


LINE = st.sampled_from(
    [
        b"def f():\n",
        b"    x\n",
        b"        y\n",
        b'    """\n',
        b"\n",
        b"# c\n",
        b")\n",
        b"if x:\n",
        b"}\n",
    ]
)


@settings(max_examples=200, deadline=None, database=None)
@given(
    lines=st.lists(LINE, max_size=25),
    at=st.integers(0, 30),
    changed=st.lists(LINE, max_size=2),
    path=st.sampled_from(["x.py", "x.c"]),
)
def test_an_outline_read_once_says_the_same(
    lines: list[bytes], at: int, changed: list[bytes], path: str
) -> None:
    assert Outline(path, lines).openings(at, changed) == openings(path, lines, at, changed)


ROWS = [b"row_%d\n" % number for number in range(60)]
ROWS_EDITED = [line.replace(b"_30", b"_30 edited") for line in ROWS]


@pytest.mark.parametrize(
    ("ours", "outcome"),
    [
        ([b"renamed\n", *ROWS], "conflict"),
        ([b"new\n", *ROWS, b"first\n", *ROWS, b"second\n", *ROWS], "merged"),
        ([b"first\n", *ROWS, b"second\n", *ROWS, b"third\n"], "merged"),
    ],
    ids=["one of two sections is gone", "another section came", "something else came"],
)
def test_equal_lines_outside_of_a_window_count(
    repository: Repository,
    monkeypatch: pytest.MonkeyPatch,
    ours: list[bytes],
    outcome: str,
) -> None:
    base = [b"first\n", *ROWS, b"second\n", *ROWS]
    theirs = [b"first\n", *ROWS, b"second\n", *ROWS_EDITED]
    trees = [tree_of(repository, [b"".join(each)]) for each in (base, ours, theirs)]
    whole = states(repository, trees)
    monkeypatch.setattr(module, "tried", functools.partial(tried, most=0, margin=8))
    inside = states(repository, trees)
    assert [state.outcome for state in whole] == [state.outcome for state in inside]
    assert [state.outcome for state in inside] == [outcome]
