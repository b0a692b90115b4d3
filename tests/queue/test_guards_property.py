"""What must hold of the rules for every change."""

import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lanewright.invisible import CONTROL, INVISIBLE, UNSHOWN, visible
from lanewright.queue.guard.guarding import refused_of
from lanewright.queue.guard.path_twins import Brought, fold, twins
from lanewright.queue.inputs import Choice
from lanewright.store.git import Repository, create
from lanewright.store.write import Content
from tests.queue.random_pulls import Tree, pulls, read, stored

quick = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
PARTS = ("a", "A", "b", "\xe9", "e\u0301", "\uff41", "\xdf", "ss", "\ufb01", "fi")
PATHS = st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map("/".join)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return create(tmp_path_factory.mktemp("guards") / "store.git")


@quick
@given(pull=pulls())
def test_ordinary_edits_break_no_rule_but_that_for_links(
    repository: Repository, pull: tuple[Tree, Tree]
) -> None:
    base, head = (stored(repository, tree) for tree in pull)
    on_base = read(repository, base, head)
    units = frozenset(unit.id for unit in on_base.units)
    found = refused_of(on_base, units, Choice(), "here")
    links = {p for p, file in pull[1].items() if file.mode == "120000" and pull[0].get(p) != file}
    assert {(each.rule, each.path) for each in found} == {("link", path) for path in links}
    allow = tuple(each.allowance for each in found)
    assert refused_of(on_base, units, Choice(allow=allow), "here") == ()


LINES = st.lists(st.text(max_size=6).map(lambda line: line.replace("\n", "")), max_size=8)


def text_of(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


@quick
@given(
    before=LINES,
    after=LINES,
    odd=st.sets(st.sampled_from("\u200b\u202e\u2066\ufeff\x1b\x9b"), max_size=2),
)
def test_a_hunk_is_told_where_it_adds_what_nobody_sees_and_only_there(
    repository: Repository, before: list[str], after: list[str], odd: set[str]
) -> None:
    after = [*after, *(f"x{sign}" for sign in sorted(odd))]
    sides = [text_of(lines) for lines in (before, after)]
    if sides[0] == sides[1]:
        return
    base, head = (stored(repository, {"vllm/x.txt": Content("100644", s)}) for s in sides)
    on_base = read(repository, base, head)
    units = frozenset(unit.id for unit in on_base.units)
    found = refused_of(on_base, units, Choice(), "here")
    if b"\0" in sides[0] + sides[1]:
        assert not found
        return
    lines, known = (side.split(b"\n") for side in sides[::-1])
    first = lines[0].removeprefix("\ufeff".encode())
    stripped = {line.strip() for line in known}
    wrong = [
        number
        for number, line in enumerate([first, *lines[1:]], 1)
        if _odd(line.decode()) and lines[number - 1].strip() not in stripped
    ]
    assert {each.line for each in found} <= set(wrong)
    assert bool(found) == bool(wrong)
    assert not any(UNSHOWN.search(str(each)) for each in found)


def _odd(line: str) -> bool:
    return bool(INVISIBLE.search(line) or CONTROL.search(line))


@quick
@given(present=st.sets(PATHS, max_size=4), brought=st.lists(PATHS, max_size=4, unique=True))
def test_a_twin_is_told_once_per_file_that_comes_later(
    present: set[str], brought: list[str]
) -> None:
    present -= set(brought)
    given_ = [Brought(path, f"{n}", "1") for n, path in enumerate(brought)]
    found = {each.path for each, _ in twins(present | set(brought), given_)}

    def nodes(paths: set[str]) -> set[str]:
        return {path[:at] for path in paths for at, sign in enumerate(f"{path}/") if sign == "/"}

    wrong = set()
    there = nodes(present)
    for path in brought:
        own = nodes({path})
        alike = {
            n for n in own if any(fold(o) == fold(n) and o != n for o in there) and n not in there
        }
        if alike:
            wrong.add(path)
        there |= own
    assert wrong <= found
    assert all(any(fold(n) == fold(o) and n != o for n in nodes({p}) for o in there) for p in found)


@given(st.text())
def test_what_nobody_sees_is_written_out(text: str) -> None:
    assert not UNSHOWN.search(visible(text))
    assert not INVISIBLE.search(visible(text))
    categories = {"Cc", "Cf", "Cn", "Lo", "Mn", "Zl", "Zp"}
    assert all(unicodedata.category(each) in categories for each in INVISIBLE.findall(text))
