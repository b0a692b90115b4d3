"""What must hold for every pull request and every choice of its hunks."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lanewright.queue.merge.units import Unit
from lanewright.store.git import Repository, create
from lanewright.store.objects import files
from lanewright.store.write import Content
from tests.queue.random_pulls import Tree, carried, edits, pulls, read, stored
from tests.upstream.fixtures import Carrying

quick = settings(
    max_examples=12,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
long = settings(quick, max_examples=600, derandomize=False)

TEXT = b"a = 1\nb = 2\n"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A store that all examples share; objects by id cannot disturb each other."""
    return create(tmp_path_factory.mktemp("random") / "objects.git")


def of_file(mode: str, raw: bytes) -> Tree:
    return {"vllm/x.txt": Content(mode, raw)}


@st.composite
def split(draw: st.DrawFn) -> tuple[Tree, Tree, Tree, st.DataObject]:
    """A pull request's two trees, a pin, and more to draw."""
    base, head = draw(pulls())
    pin = draw(st.one_of(st.just(base), edits(base)))
    return base, head, pin, draw(st.data())


def check_all(repository: Repository, pull: tuple[Tree, Tree]) -> None:
    """All hunks give the head, and no two have one id."""
    base, head = (stored(repository, side) for side in pull)
    units = read(repository, base, head).units
    assert len({unit.id for unit in units}) == len(units)
    assert carried(repository, base, head, base, units) == files(repository, head)


def check_split(repository: Repository, drawn: tuple[Tree, Tree, Tree, st.DataObject]) -> None:
    """Some hunks in one entry, and in two in either order, give one tree or ask a person."""
    *trees, data = drawn
    base, head, pin = (stored(repository, tree) for tree in trees)
    units = read(repository, base, head).units
    some = [unit for unit in units if data.draw(st.booleans(), label=unit.id)] or list(units)
    order = data.draw(st.permutations(some))
    at = data.draw(st.integers(0, len(order)))
    parts: list[list[Unit]] = [part for part in (order[:at], order[at:]) if part]
    found = [
        carried(repository, base, head, pin, *entries) for entries in ([some], parts, parts[::-1])
    ]
    trees_found = [tree for tree in found if tree is not None]
    assert all(tree == trees_found[0] for tree in trees_found)


@quick
@given(pull=pulls())
@example(pull=(of_file("100644", TEXT), of_file("100755", TEXT)))
@example(pull=(of_file("100644", TEXT), of_file("120000", b"a.py")))
@example(pull=(of_file("100644", b"a.py"), of_file("120000", b"a.py")))
@example(pull=(of_file("100644", b"\0"), of_file("100755", b"\0\0")))
@example(pull=(of_file("100644", TEXT), of_file("100644", TEXT.replace(b"\n", b"\r\n"))))
@example(
    pull=({"vllm/x.py": Content("100644", TEXT)}, {"vllm/x.py": Content("120000", b"a b/c.py")})
)
@example(pull=({"vllm/x": Content("100644", TEXT)}, {"vllm/x/y": Content("100644", TEXT)}))
def test_all_hunks_selected_is_the_pull_requests_tree(
    repository: Repository, pull: tuple[Tree, Tree]
) -> None:
    check_all(repository, pull)


@quick
@given(drawn=split())
def test_any_hunks_in_any_split_give_one_tree_or_ask_a_person(
    repository: Repository, drawn: tuple[Tree, Tree, Tree, st.DataObject]
) -> None:
    check_split(repository, drawn)


@pytest.mark.engine_full
@long
@given(pull=pulls(), drawn=split())
def test_the_same_for_many_more(
    repository: Repository,
    pull: tuple[Tree, Tree],
    drawn: tuple[Tree, Tree, Tree, st.DataObject],
) -> None:
    check_all(repository, pull)
    check_split(repository, drawn)


def test_a_file_that_upstream_made_a_link_and_the_pull_request_edits(
    repository: Repository,
) -> None:
    base, head, pin = (
        stored(repository, tree)
        for tree in (
            of_file("100644", TEXT),
            of_file("100644", TEXT + b"c = 3\n"),
            of_file("120000", b"a.py"),
        )
    )
    for before, after in ((head, pin), (pin, head)):
        units = read(repository, base, before).units
        assert carried(repository, base, before, after, units) is None


@pytest.mark.parametrize("wanted", ["vllm/x/y", "vllm/x"])
def test_half_of_a_file_that_became_a_folder(repository: Repository, wanted: str) -> None:
    base = stored(repository, {"vllm/x": Content("100644", TEXT)})
    head = stored(repository, {"vllm/x/y": Content("100644", b"new = 1\n")})
    for before, after in ((base, head), (head, base)):
        change = read(repository, before, after)
        (unit,) = [unit for unit in change.units if unit.path == wanted]
        found = carried(repository, before, after, before, [unit])
        assert found == ({} if change.sides[wanted] else None)


FUNCTIONS = 12


def module(edited: dict[int, str], above: int = 0) -> bytes:
    """Functions of ten lines, some with another body, below lines that upstream brought in."""
    parts = [f"UPSTREAM_{number} = {number}\n" for number in range(above)]
    for number in range(FUNCTIONS):
        body = edited.get(number, "a = 1")
        filler = "".join(f"    line_{line} = {line}\n" for line in range(4))
        parts.append(f"\n\ndef f_{number}():\n{filler}    {body}\n{filler}")
    return "".join(parts).encode()


NUMBERS = st.sets(st.integers(0, FUNCTIONS - 1), max_size=5)


@quick
@given(kept=NUMBERS.filter(bool), more=NUMBERS, upstream=NUMBERS, above=st.integers(0, 9))
def test_ids_outlive_edits_elsewhere_and_a_newer_base(
    repository: Repository, kept: set[int], more: set[int], upstream: set[int], above: int
) -> None:
    mine = dict.fromkeys(kept, "a = 2")
    others = dict.fromkeys(more - kept, "a = 2\n    a = 3")
    theirs = dict.fromkeys(upstream - kept - more, "a = 4")

    def ids(before: bytes, after: bytes) -> set[str]:
        sides = [stored(repository, {"vllm/x.py": Content("100644", t)}) for t in (before, after)]
        return {unit.id for unit in read(repository, *sides).units}

    wanted = ids(module({}), module(mine))
    assert len(wanted) == len(kept)
    assert ids(module(theirs, above), module(theirs | mine, above)) == wanted
    assert ids(module({}), module(mine | others)) >= wanted
    assert ids(module(theirs, above), module(theirs | mine | others, above)) >= wanted


def test_two_entries_of_one_pull_request_are_as_one(carrying: Carrying) -> None:
    assert carrying.run("add", "91474") == 0
    whole = carrying.lock
    first, *rest = dict.fromkeys(hunk.path for hunk in whole.entries[0].hunks)
    text = carrying.series.read_text()
    entry = text[text.index("[[entry]]") :]
    parts = [("one", [first]), ("other", rest)]
    for order in (parts, parts[::-1]):
        both = "".join(
            f'{entry.rstrip()}\nname = "{name}"\nselect = {paths}\n\n' for name, paths in order
        )
        carrying.series.write_text(text.replace(entry, both.replace("'", '"')))
        assert carrying.run("build") == 0
        assert carrying.lock.tree == whole.tree
