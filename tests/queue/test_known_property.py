"""Whatever is edited in a series: with what is known of it, it comes to the same as without."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lanewright.errors import LanewrightError
from lanewright.queue.apply import apply_plan
from lanewright.queue.lock import encode
from lanewright.queue.plan import plan
from lanewright.store.objects import CommitId
from lanewright.store.write import commit
from tests.queue.random_pulls import Tree, edits, stored, trees
from tests.upstream.fixtures import Carrying

quick = settings(
    max_examples=10,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
long = settings(quick, max_examples=300, derandomize=False)

SERIES = """\
title = "A lane"
device = "cpu"
pin = "git:{pin}"
release = "0.31.0"

[model]
recipe = "qwen3-moe-tiny"
"""
ENTRY = """
[[entry]]
pull = {number}
head = "{head}"
base = "{base}"
{more}
"""
Entries = list[tuple[int, str]]
# A base, heads, two pins, and the series that come one after the other: each a pin and entries.
Drawn = tuple[Tree, list[Tree], list[Tree], list[tuple[int, Entries]]]


@st.composite
def edited(draw: st.DrawFn) -> Drawn:
    """All of it; an entry may leave out hunks whose file is not there."""
    base = draw(trees())
    changed = edits(base).filter(lambda after: after != base)
    heads = draw(st.lists(changed, min_size=1, max_size=4))
    pins = [base, draw(edits(base))]
    entry = st.tuples(
        st.integers(0, len(heads) - 1), st.sampled_from(["", "", "", 'missing = "skip"'])
    )
    entries = st.lists(entry, min_size=1, max_size=4, unique_by=lambda each: each[0])
    return (
        base,
        heads,
        pins,
        draw(st.lists(st.tuples(st.integers(0, 1), entries), min_size=2, max_size=5)),
    )


def came_to(carrying: Carrying, *, remembers: bool) -> tuple[bytes, object]:
    """A lane's lock and conflicts; or why it has none."""
    planned = plan(carrying.project, "sample")
    try:
        applied = apply_plan(carrying.project, carrying.places, planned, remembers=remembers)
    except LanewrightError as error:
        return str(error).encode("utf-8", "backslashreplace"), error.hint
    conflicts = [each.conflicts for each in applied.conflicts]
    return encode(applied.lock), (conflicts, applied.again)


def check(carrying: Carrying, drawn: Drawn) -> None:
    base, heads, pins, series = drawn

    def committed(tree: Tree, *parents: CommitId) -> CommitId:
        return commit(carrying.repository, stored(carrying.repository, tree), "", parents)

    under = committed(base)
    above = [committed(head, under) for head in heads]
    on = [committed(pin, under) for pin in pins]
    for pin, entries in series:
        text = [
            ENTRY.format(number=number + 1, head=above[number], base=under, more=more)
            for number, more in entries
        ]
        carrying.series.write_text("".join([SERIES.format(pin=on[pin]), *text]))
        assert came_to(carrying, remembers=True) == came_to(carrying, remembers=False)
        assert came_to(carrying, remembers=True) == came_to(carrying, remembers=False)


@quick
@given(drawn=edited())
def test_known_results_change_nothing(carrying: Carrying, drawn: Drawn) -> None:
    check(carrying, drawn)


@pytest.mark.engine_full
@long
@given(drawn=edited())
def test_the_same_for_many_more(carrying: Carrying, drawn: Drawn) -> None:
    check(carrying, drawn)
