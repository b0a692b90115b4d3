"""A lane whose choice is not complete: every command tells, and what it says to type mends it."""

import re
import shlex
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lanewright.queue.closure.asked import Asked, view_of
from lanewright.queue.closure.closure import Closure, closure_of, dependents
from lanewright.queue.merge.units import OnBase, read_on_base
from lanewright.queue.pull.pulldiff import pull_diff
from lanewright.store.git import Repository, create
from lanewright.store.objects import EMPTY
from lanewright.store.trees import edit_tree
from lanewright.store.write import Content, store_files
from tests.upstream.clash import clash
from tests.upstream.fixtures import Carrying

Capture = pytest.CaptureFixture[str]
ONE, TWO, THREE = "vllm/one.py", "vllm/two.py", "vllm/three.py"
CHAIN: dict[str, bytes | None] = {
    ONE: b"from vllm.two import two\n",
    TWO: b"from vllm.three import three\n\ntwo = three\n",
    THREE: b"three = 3\n",
}
NEXT = re.compile(r"^  next: .*?lanewright ((?:add|drop) .*?)(?:, or leave out .*)?$", re.MULTILINE)


@pytest.fixture
def chained(carrying: Carrying) -> Carrying:
    """A pull request of which each file needs the next."""
    carrying.push(7, carrying.main[0], CHAIN)
    return carrying


def refused(lane: Carrying, capfd: Capture, *arguments: str) -> list[str]:
    """Run a command that is refused and writes nothing; what it says to type."""
    before = lane.series.read_bytes()
    capfd.readouterr()
    assert lane.run(*arguments) == 1
    assert lane.series.read_bytes() == before
    error = capfd.readouterr().err
    assert "chosen hunks use what the lane does not have" in error
    command = NEXT.search(error)
    assert command, error
    return shlex.split(command[1])


def paths(lane: Carrying) -> list[set[str]]:
    """Per entry of the lock, the files of which something is taken."""
    return [
        {hunk.path for hunk in entry.hunks if hunk.outcome != "not selected"}
        for entry in lane.lock.entries
    ]


def test_add_says_what_to_add_with_it(chained: Carrying, capfd: Capture) -> None:
    command = refused(chained, capfd, "add", f"7:{ONE}")
    assert command[:2] == ["add", f"7:{ONE}"]
    assert chained.run(*command) == 0
    assert paths(chained) == [{ONE, TWO, THREE}]


def test_parts_can_be_added_one_by_one_from_the_ground_up(chained: Carrying) -> None:
    for path in (THREE, TWO, ONE):
        assert chained.run("add", f"7:{path}") == 0
    assert paths(chained) == [{ONE, TWO, THREE}]


def test_of_several_parts_all_are_added_or_none(chained: Carrying) -> None:
    before = chained.series.read_bytes()
    assert chained.run("add", f"7:{THREE}", "7:vllm/none.py") == 1
    assert chained.series.read_bytes() == before
    assert chained.run("add", f"7:{THREE}", f"7:{TWO}") == 0
    assert paths(chained) == [{TWO, THREE}]
    assert chained.run("undo") == 0
    assert chained.series.read_bytes() == before


def test_drop_says_what_to_drop_with_it(chained: Carrying, capfd: Capture) -> None:
    assert chained.run("add", "7") == 0
    command = refused(chained, capfd, "drop", f"7:{THREE}")
    assert command[:2] == ["drop", f"7:{THREE}"]
    assert chained.run("drop", f"7:{ONE}") == 0
    command = refused(chained, capfd, "drop", f"7:{THREE}")
    assert chained.run(*command) == 0
    assert paths(chained) == []


def test_an_update_says_what_to_add_with_it(carrying: Carrying, capfd: Capture) -> None:
    lines = b"".join(b"line_%d = 0\n" % number for number in range(12))
    carrying.push(7, carrying.main[0], {ONE: lines})
    assert carrying.run("add", f"7:{ONE}") == 0
    more = lines + b"from vllm.two import two\n"
    carrying.push(7, carrying.main[0], {ONE: more, TWO: b"two = 2\n"})
    command = refused(carrying, capfd, "add", "7", "--update")
    assert command[-1] == "--update"
    assert carrying.run(*command) == 0
    assert paths(carrying) == [{ONE, TWO}]


def by_hand(lane: Carrying, *numbers: int) -> None:
    """Choose the first file alone of some pull requests, as a person edits a series."""
    for number in numbers:
        assert lane.run("add", str(number)) == 0
    text = lane.series.read_text()
    for number in numbers:
        select = f'pull = {number}\nselect = ["{ONE.replace("one", f"one_{number}")}"]\n'
        text = text.replace(f"pull = {number}\n", select)
    lane.series.write_text(text)


def pulls(lane: Carrying, *numbers: int) -> None:
    """Pull requests like the chain, each with files of its own."""
    for number in numbers:
        named = {
            path.replace(".py", f"_{number}.py"): re.sub(
                rb"(vllm\.\w+)", rb"\1_%d" % number, content or b""
            )
            for path, content in CHAIN.items()
        }
        lane.push(number, lane.main[0], {**named})


COMMANDS = [
    ("build",),
    ("build", "--check"),
    ("report",),
    ("rebase", "--to", "main"),
    ("rebase", "--check", "--to", "main"),
    ("add", "5"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_tells_all_of_it_and_one_command_mends_it(
    command: tuple[str, ...], carrying: Carrying, capfd: Capture
) -> None:
    pulls(carrying, 5, 7, 8)
    by_hand(carrying, 7, 8)
    mending = refused(carrying, capfd, *command)
    assert {part.partition(":")[0] for part in mending[1:]} >= {"7", "8"}
    assert carrying.run(*mending) == 0
    assert len(paths(carrying)[0]) == len(paths(carrying)[1]) == len(CHAIN)


@pytest.mark.parametrize("later", ["", "later"])
def test_another_entry_may_define_it_before_or_after(
    later: str, chained: Carrying, capfd: Capture
) -> None:
    chained.push(8, chained.main[0], {TWO: b"two = 2\n"})
    assert chained.run("add", "8") == 0
    assert chained.run("add", f"7:{ONE}") == 0
    if later:
        head, eight, seven = chained.series.read_text().split("[[entry]]")
        chained.series.write_text(f"{head}[[entry]]{seven}\n[[entry]]{eight}")
        assert chained.run("build") == 0
    command = refused(chained, capfd, "drop", "8")
    assert chained.run(*command) == 0
    assert chained.lock.entries == []


PLAIN = "vllm/plain.py"


@pytest.mark.parametrize("brings", ["two", "nothing"])
def test_what_an_entry_in_conflict_would_bring_counts(
    brings: str, carrying: Carrying, capfd: Capture
) -> None:
    theirs = {PLAIN: b"value = 3\n", **({TWO: b"two = 2\n"} if brings == "two" else {})}
    made = clash(carrying, {PLAIN: b"value = 1\n"}, {PLAIN: b"value = 2\n"}, theirs)
    made.pull(7, {ONE: CHAIN[ONE], TWO: b"two = 7\n"})
    capfd.readouterr()
    if brings == "two":
        assert carrying.run("add", f"7:{ONE}") == 3
        return
    assert carrying.run("add", f"7:{ONE}") == 1
    assert "in conflict, to be told once this is mended: 5" in capfd.readouterr().err
    assert carrying.run("add", f"7:{ONE}", f"7:{TWO}") == 3


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return create(tmp_path_factory.mktemp("closures") / "store.git")


def importing(repository: Repository, wanted: list[set[int]]) -> OnBase:
    """A change that brings one module each, which imports others."""
    texts = {
        f"vllm/m{number}.py": f"m{number} = 1\n"
        + "".join(f"from vllm.m{other} import m{other}\n" for other in sorted(others))
        for number, others in enumerate(wanted)
    }
    contents = {path: Content("100644", text.encode()) for path, text in texts.items()}
    head = edit_tree(repository, EMPTY, store_files(repository, contents))
    return read_on_base(repository, pull_diff(repository, EMPTY, head, "#1"), EMPTY, "base")


def asking(on_base: OnBase, taken: frozenset[str]) -> Asked:
    """A choice on a lane that has nothing else."""
    offered = frozenset(unit.id for unit in on_base.units)
    return Asked(on_base, taken, offered, view_of(on_base, taken))


def reached(wanted: list[set[int]], start: set[int]) -> set[int]:
    found = set(start)
    while more := {other for number in found for other in wanted[number]} - found:
        found |= more
    return found


@st.composite
def choices(
    draw: Callable[[st.SearchStrategy[set[int]]], set[int]],
) -> tuple[list[set[int]], set[int]]:
    numbers = st.sets(st.integers(0, 6), max_size=2)
    return [draw(numbers) for _ in range(7)], draw(st.sets(st.integers(0, 6), min_size=1))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(choices())
def test_a_closure_is_all_that_is_reached_and_no_more(
    repository: Repository, choice: tuple[list[set[int]], set[int]]
) -> None:
    wanted, start = choice
    on_base = importing(repository, wanted)
    everything = frozenset(unit.id for unit in on_base.units)
    names = {unit.path: unit.id for unit in on_base.units}
    ids = {number: names[f"vllm/m{number}.py"] for number in range(len(wanted))}
    taken = frozenset(ids[number] for number in start)
    asked = asking(on_base, taken)
    found = closure_of(asked) or Closure((), ())
    whole = taken | {unit.id for unit in found.further}
    assert whole == {ids[number] for number in reached(wanted, start)}
    assert closure_of(asking(on_base, whole)) is None
    assert closure_of(asking(on_base, everything)) is None
    kept = taken - {unit.id for unit in dependents(asked, [lack.unit for lack in found.lacks])}
    assert kept == {ids[number] for number in start if reached(wanted, {number}) <= start}
