"""Whatever the three sides, and whatever a person makes of them: a build gives the person's file."""

import itertools
import re
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.upstream.clash import Clash, clash
from tests.upstream.fixtures import Carrying

LINES = st.sampled_from([b"a\n", b"b\n", b"\n", b"c\r\n", b"\xe4\n", b"a long line of a side\n"])
ENDS = st.sampled_from([b"", b"z", b"z\n"])
NUMBERS = itertools.count(100)
PIN = re.compile(r"\[\[entry\]\].*", re.DOTALL)


@dataclass(frozen=True)
class Case:
    """One file: its sides, and what a person makes of it; None where it is not there."""

    base: bytes | None
    ours: bytes | None
    theirs: bytes | None
    settled: bytes | None


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Two sides that change one line in two ways, or that one removes."""
    lines = draw(st.lists(LINES, max_size=6))
    above, below = draw(st.lists(LINES, max_size=2)), draw(st.lists(LINES, max_size=2))
    start, end = b"".join(lines), draw(ENDS)
    base = start + b"meets\n" + end
    ours: bytes | None = b"".join(above) + start + b"ours meets\n" + end
    theirs: bytes | None = start + b"theirs meets\n" + b"".join(below) + end
    removed = draw(st.sampled_from(["", "", "", "base", "ours", "theirs"]))
    own = st.one_of(LINES, st.sampled_from([b"own\n", b"ours meets\n", b"theirs meets\n"]))
    settled = b"".join(draw(st.lists(own, max_size=8))) + draw(ENDS)
    return Case(
        None if removed == "base" else base,
        None if removed == "ours" else ours,
        None if removed == "theirs" else theirs,
        draw(st.sampled_from([settled, settled, settled, ours, theirs, None])),
    )


def require_exact(carrying: Carrying, drawn: list[Case]) -> None:
    """Carry one pull request that conflicts in all these files, settle it, and build."""
    named = {f"vllm/{number}.txt": case for number, case in enumerate(drawn)}
    number = next(NUMBERS)
    carrying.series.write_text(PIN.sub("", carrying.series.read_text()))
    base = {path: case.base for path, case in named.items() if case.base is not None}
    ours = {path: case.ours for path, case in named.items()}
    made = clash(carrying, base, ours, {p: c.theirs for p, c in named.items()}, number=number)
    settle(made, str(number), {path: case.settled for path, case in named.items()})


def settle(made: Clash, entry: str, settled: dict[str, bytes | None]) -> None:
    made.settle(settled, entry)
    built = made.built()
    assert {path: built.get(path) for path in settled} == settled
    assert made.world.run("build", "--check") == 0


SLOW = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]


@settings(max_examples=2, deadline=None, suppress_health_check=SLOW)
@given(drawn=st.lists(cases(), min_size=25, max_size=25))
def test_a_build_gives_exactly_the_persons_files(carrying: Carrying, drawn: list[Case]) -> None:
    require_exact(carrying, drawn)


@pytest.mark.engine_full
@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(drawn=st.lists(cases(), min_size=40, max_size=40))
def test_a_build_gives_exactly_the_persons_files_of_many(
    carrying: Carrying, drawn: list[Case]
) -> None:
    require_exact(carrying, drawn)
