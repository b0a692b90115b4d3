"""What did not make a hunk what it is, is never named as its cause."""

import pytest

from lanewright.store.git import Repository
from lanewright.store.objects import BlobId, CommitId, File, tree_of
from lanewright.store.trees import edit_tree
from lanewright.store.write import Content, commit
from tests.report.conftest import Told
from tests.report.reading import hunk_at, hunks_of, turns_of
from tests.upstream.clash import Clash, Files, clash
from tests.upstream.diff import git
from tests.upstream.fixtures import Carrying

PATH, OTHER, NEW = "vllm/engine.py", "vllm/other.py", "vllm/new.py"
TEXT = b"".join(b"def f_%d():\n    return %d\n\n\n" % (n, n) for n in range(9))

RETURN = b"    return 2\n"
LONG = TEXT.replace(RETURN, b"    seen = measure(residency, experts)\n    return seen\n")
EDITS = TEXT.replace(RETURN, b"    seen = measure(residency, experts, 1)\n    return seen\n")


def edited(number: int, value: int, text: bytes = TEXT) -> bytes:
    return text.replace(b"return %d\n" % number, b"return %d\n" % value)


def goes(made: Clash, *states: Files) -> list[CommitId]:
    """Take upstream's branch and the lane on, one commit per state."""
    main: list[CommitId] = []
    for state in states:
        main.append(made.upstream(state, onto=main[-1] if main else None))
    made.stand_on(main[-1])
    assert made.world.run("fetch") == 0
    return main


@pytest.fixture
def five(carrying: Carrying) -> Clash:
    both = {PATH: TEXT, OTHER: TEXT}
    return clash(carrying, both, {NEW: b"x = 1\n"}, {PATH: edited(2, 22)}, code=0)


def test_who_brought_what_landed_from_another_entry(five: Clash, told: Told) -> None:
    five.pull(6, {PATH: edited(2, 22), OTHER: edited(4, 44)})
    five.pull(7, {PATH: edited(7, 77)})
    goes(five, {PATH: edited(5, 55)})
    assert five.world.run("add", "7", "6") == 0
    cause = hunk_at(told(five.world, code=0), PATH, "6")["cause"]
    assert cause.get("commit") is None
    assert (cause["entries"], cause["told"]) == (["5"], "the entry 5 has it too")


def test_who_took_a_hunk_in_with_edits_is_not_who_changed_its_lines_before(
    five: Clash, told: Told
) -> None:
    five.pull(6, {PATH: LONG})
    assert five.world.run("drop", "5") == 0
    assert five.world.run("add", "6") == 0
    _, taken = goes(five, {PATH: edited(2, 3)}, {PATH: EDITS})
    hunk = hunk_at(told(five.world), PATH, "6")
    assert hunk["outcome"] == "landed changed"
    assert hunk["cause"]["commit"]["id"] == taken


def test_a_hunk_that_is_dropped_as_landed_is_no_break(five: Clash, told: Told) -> None:
    world = five.world
    five.pull(6, {PATH: LONG, OTHER: edited(4, 44)})
    assert world.run("drop", "5") == 0
    assert world.run("add", "6") == 0
    [taken] = goes(five, {PATH: EDITS})
    hunk = hunk_at(told(world), PATH, "6")
    assert world.run("drop", "--landed", f"6:{PATH}:{hunk['id']}") == 0
    report = told(world, code=0)
    assert turns_of(report, "6") == []
    assert hunk_at(report, PATH, "6")["cause"]["commit"]["id"] == taken


def test_an_entry_that_is_not_carried_itself_is_no_cause(five: Clash, told: Told) -> None:
    world = five.world
    five.pull(6, {PATH: edited(2, 222), OTHER: edited(4, 44)})
    five.pull(7, {OTHER: edited(4, 444)})
    five.pull(8, {OTHER: edited(4, 4444)})
    assert world.run("add", "6") == 3
    assert world.run("add", "7") == 3
    assert world.run("add", "8") == 3
    report = told(world)
    assert hunk_at(report, OTHER, "8")["cause"]["entries"] == ["7"]


def test_an_entry_that_merely_changes_the_file_is_no_cause(five: Clash, told: Told) -> None:
    world = five.world
    five.pull(6, {PATH: b"import os\n\n\ndef g():\n    return 0\n\n\n" + TEXT})
    [twice] = goes(five, {PATH: TEXT + b"def g():\n    return 1\n"})
    assert world.run("add", "6") == 3
    hunk = hunk_at(told(world), PATH, "6")
    assert hunk["outcome"] == "conflict"
    assert hunk["cause"].get("entries") is None
    assert hunk["cause"]["commit"]["id"] == twice
    assert hunk["cause"]["told"].endswith("changed the file")
    assert "defines g 2 times" in hunk["detail"]


def test_what_a_stacked_one_stands_on_is_no_cause_of_what_upstream_did(
    five: Clash, told: Told
) -> None:
    world = five.world
    second = five.pull(6, {PATH: edited(7, 77, edited(2, 22))}, onto=head_of(world, 5))
    third = edited(2, 23, edited(7, 77))
    five.pull(7, {OTHER: edited(1, 2), PATH: third}, onto=second)
    goes(five, {PATH: edited(7, 78)})
    assert world.run("add", "6") == 3
    assert world.run("add", "7") == 3
    report = told(world)
    for name in ("6", "7"):
        for part, hunk in hunks_of(report, name).items():
            cause = hunk.get("cause", {})
            assert not cause.get("entries"), part
            assert not cause.get("commit"), part


def test_one_that_is_stacked_on_what_the_lane_takes_in_part(five: Clash, told: Told) -> None:
    world = five.world
    below = five.pull(6, {PATH: edited(4, 44), OTHER: edited(3, 33)})
    five.pull(7, {PATH: edited(4, 45)}, onto=below)
    assert world.run("add", f"6:{OTHER}") == 0
    assert world.run("add", "7") == 3
    cause = hunk_at(told(world), PATH, "7")["cause"]
    assert (cause["entries"], cause.get("commit")) == (["6"], None)
    assert "made on the entry 6, of which the lane lacks a part" in cause["told"]


def head_of(world: Carrying, number: int) -> CommitId:
    found = git(world.upstream, "rev-parse", f"refs/pull/{number}/head")
    return CommitId(found.decode().strip())


def test_a_submodule_in_its_place_for_a_while(five: Clash, told: Told) -> None:
    upstream = Repository(five.world.upstream)
    module = {PATH: File("160000", BlobId("1" * 40))}
    tree = edit_tree(upstream, tree_of(upstream, five.before), module)
    first = commit(upstream, tree, "A submodule\n", [five.before])
    last = five.upstream({PATH: edited(2, 3)}, onto=first)
    five.stand_on(last)
    assert five.world.run("fetch") == 0
    report = told(five.world)
    assert hunk_at(report, PATH)["cause"]["commit"]["id"] == last
    assert turns_of(report) == [(False, first, False)]


def test_what_was_undone_again_is_no_cause_of_what_is_there_now(five: Clash, told: Told) -> None:
    link = Content("120000", b"other.py")
    states: list[tuple[Files, Files]] = [
        ({PATH: link}, {PATH: edited(2, 3)}),
        ({PATH: TEXT.replace(RETURN, RETURN + b"    # more\n")}, {PATH: edited(2, 4)}),
    ]
    for gone, there in states:
        first, last = goes(five, gone, there)
        report = told(five.world)
        assert hunk_at(report, PATH)["cause"]["commit"]["id"] == last
        assert turns_of(report) == [(False, first, False)]


def test_what_lasts_of_the_first_change_is_the_cause(five: Clash, told: Told) -> None:
    one = TEXT.replace(RETURN, b"    return 2 + 1\n    # more\n")
    two = TEXT.replace(RETURN, b"    return 2 + 1\n    # less\n")
    for states in ({PATH: one}, {PATH: two}), ({PATH: edited(2, 3)}, {PATH: edited(2, 4)}):
        first, _ = goes(five, *states)
        assert hunk_at(told(five.world), PATH)["cause"]["commit"]["id"] == first


def test_a_binary_is_what_the_last_change_made_it(five: Clash, told: Told) -> None:
    blob = "vllm/table.bin"
    before = five.upstream({blob: b"\0a"})
    five.pull(6, {blob: b"\0b"}, onto=before)
    first = five.upstream({blob: b"\0c"}, onto=before)
    last = five.upstream({blob: b"\0d"}, onto=first)
    five.stand_on(last)
    assert five.world.run("drop", "5") == 0
    assert five.world.run("add", "6") == 3
    cause = hunk_at(told(five.world), blob, "6")["cause"]
    assert cause["commit"]["id"] == last
    assert cause["told"].endswith("changed the file")


def test_a_file_that_both_brought_has_both_sides(five: Clash, told: Told) -> None:
    five.pull(6, {OTHER: edited(1, 11), "vllm/both.py": b"x = 3\n"})
    brought, _ = goes(five, {"vllm/both.py": b"x = 1\n"}, {"vllm/both.py": b"x = 1\ny = 2\n"})
    assert five.world.run("add", "6") == 3
    hunk = hunk_at(told(five.world), "vllm/both.py", "6")
    assert hunk["sides"]["ours"] == {"first": 1, "lines": ["x = 1", "y = 2"]}
    assert hunk["cause"]["commit"]["id"] == brought
