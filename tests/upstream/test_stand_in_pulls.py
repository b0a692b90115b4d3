"""The stand-in pull requests: what becomes of each, and how their branches are made."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanewright.queue.merge.merge import Merge, merge_trees
from lanewright.store.objects import TreeId, changes, commit_and_tree, read_blobs
from tests.upstream.diff import git
from tests.upstream.stand_in.force_push import force_push
from tests.upstream.stand_in.history import NEW_TAG, OLD_TAG
from tests.upstream.stand_in.points import is_python
from tests.upstream.stand_in.pulls import BROUGHT, position
from tests.upstream.stand_in.repository import StandIn
from tests.upstream.stand_in.shape import Shape, merge_base, shape_of
from tests.upstream.stand_in.specs import PULLS, PullSpec

NUMBER = {spec.number: spec for spec in PULLS}
every_pull = pytest.mark.parametrize("spec", PULLS, ids=lambda spec: str(spec.number))


def trees_of(stand_in: StandIn, *names: str) -> Iterator[TreeId]:
    for name in names:
        found = commit_and_tree(stand_in.repository, name)
        assert found is not None
        yield found[1]


def merged(stand_in: StandIn, spec: PullSpec) -> tuple[TreeId, TreeId, Merge]:
    """The pull request's base tree, its head's, and the merge onto the new tag."""
    base = merge_base(stand_in.repository, spec.ref)
    before, head, pin = trees_of(stand_in, base, spec.ref, NEW_TAG)
    return before, head, merge_trees(stand_in.repository, before, pin, head)


@every_pull
def test_what_becomes_of_it_is_what_its_specification_says(
    stand_in: StandIn, spec: PullSpec
) -> None:
    assert shape_of(stand_in.repository, spec.ref, NEW_TAG) == spec.shape


@every_pull
def test_the_tools_own_merge_finds_the_same_conflicts(stand_in: StandIn, spec: PullSpec) -> None:
    _, _, merge = merged(stand_in, spec)
    sides = [set(found) for found in merge.conflicts.values()]
    assert sides.count({1, 2, 3}) == spec.shape.conflicts
    assert sides.count({1, 3}) == spec.shape.missing


@every_pull
def test_on_the_old_tag_what_began_there_is_clean(stand_in: StandIn, spec: PullSpec) -> None:
    shape = shape_of(stand_in.repository, spec.ref, OLD_TAG)
    assert (shape.conflicts, shape.missing) == (0, 0)
    if spec.base == 0:
        expected = spec.shape.applied + spec.shape.merged + spec.shape.conflicts
        assert shape == Shape(brought=spec.shape.brought, applied=expected)


@every_pull
def test_all_that_it_touches_is_python_before_and_after_the_merge(
    stand_in: StandIn, spec: PullSpec
) -> None:
    before, head, merge = merged(stand_in, spec)
    _, pin = trees_of(stand_in, spec.ref, NEW_TAG)
    repository = stand_in.repository
    edited = [file for _, file in changes(repository, before, head).values() if file]
    resulting = [
        file
        for path, (_, file) in changes(repository, pin, merge.tree).items()
        if file and path not in merge.conflicts
    ]
    contents = read_blobs(repository, [file.blob for file in (*edited, *resulting)])
    assert all(is_python(raw) for raw in contents.values())


@every_pull
def test_a_conflict_is_resolved_by_keeping_both_sides(
    stand_in: StandIn, spec: PullSpec, tmp_path: Path
) -> None:
    _, _, merge = merged(stand_in, spec)
    for path, sides in merge.conflicts.items():
        if set(sides) == {1, 2, 3}:
            contents = read_blobs(stand_in.repository, [file.blob for file in sides.values()])
            for number, file in sides.items():
                (tmp_path / str(number)).write_bytes(contents[file.blob])
            both = git(tmp_path, "merge-file", "-p", "--union", "2", "1", "3")
            assert is_python(both), path
            added = set(both.splitlines()) - set(contents[sides[2].blob].splitlines())
            assert added <= set(contents[sides[3].blob].splitlines()), path


@every_pull
def test_it_leaves_main_where_its_specification_says(stand_in: StandIn, spec: PullSpec) -> None:
    base = merge_base(stand_in.repository, spec.ref)
    assert base == stand_in.main[position(spec.base, stand_in.main)]
    assert stand_in.heads[spec.number] == git(stand_in.path, "rev-parse", spec.ref).decode().strip()


def test_their_numbers_are_nobodys_upstream() -> None:
    assert all(spec.number > 90_000 for spec in PULLS)


@pytest.mark.parametrize("lane", [(96177, 97943), (92060, 91474)])
def test_those_that_a_lane_would_carry_together_touch_no_file_of_each_other(
    stand_in: StandIn, lane: tuple[int, int]
) -> None:
    touched = []
    for number in lane:
        before, head, _ = merged(stand_in, NUMBER[number])
        touched.append(changes(stand_in.repository, before, head).keys())
    assert touched[0].isdisjoint(touched[1])


def test_one_took_main_in_and_brings_none_of_its_changes(stand_in: StandIn) -> None:
    spec = NUMBER[97190]
    parents = git(stand_in.path, "log", "--format=%p", f"main..{spec.ref}").decode().splitlines()
    assert [len(each.split()) for each in parents] == [1, 2, 1]
    before, head, _ = merged(stand_in, spec)
    said = git(stand_in.path, "diff", before, head).decode()
    removed = [line for line in said.splitlines() if re.match(r"-(?!--)", line)]
    assert removed == []


def test_one_takes_back_part_of_what_it_did(stand_in: StandIn) -> None:
    spec = NUMBER[91710]
    said = git(stand_in.path, "diff", "--numstat", f"{spec.ref}^", spec.ref).decode()
    counts = [line.split("\t") for line in said.splitlines()]
    assert [added for added, _, _ in counts] == ["0", "0"]
    paths = {path for _, _, path in counts}
    before, head, _ = merged(stand_in, spec)
    net = changes(stand_in.repository, before, head).keys()
    assert len(paths & net) == 1


def test_one_deletes_a_function(stand_in: StandIn) -> None:
    spec = NUMBER[91474]
    said = git(stand_in.path, "diff", f"{spec.ref}^", spec.ref).decode()
    assert len(re.findall(r"^- *def ", said, re.MULTILINE)) == 1


def hunks(stand_in: StandIn, base: str, head: str) -> dict[tuple[str, str], str]:
    """Added lines and where they go, of every hunk in files that the base has."""
    said = git(stand_in.path, "diff", "--diff-filter=M", "-U0", base, head).decode()
    found = {}
    for file in said.split("diff --git ")[1:]:
        path = file.split(" ")[0]
        for at, lines in re.findall(r"^@@ -(\S+) .*\n((?:[-+].*\n)+)", file, re.MULTILINE):
            found[path, at] = lines
    return found


def test_a_force_push_moves_rewords_drops_and_adds_a_hunk(own_stand_in: StandIn) -> None:
    spec = NUMBER[96177]
    old = own_stand_in.heads[spec.number]
    new = force_push(own_stand_in.path, spec.number)
    assert git(own_stand_in.path, "rev-parse", spec.ref).decode().strip() == new
    base = merge_base(own_stand_in.repository, old)
    assert merge_base(own_stand_in.repository, new) == base
    assert git(own_stand_in.path, "merge-base", old, new).decode().strip() == base

    first, second = (hunks(own_stand_in, base, head) for head in (old, new))
    (gone,) = first.keys() - second.keys()
    (added,) = second.keys() - first.keys()
    (reworded,) = [key for key in first.keys() & second.keys() if first[key] != second[key]]
    assert len({gone[0], added[0], reworded[0]}) == 3
    (below,) = [at for path, at in first if path == added[0]]
    assert int(added[1].split(",")[0]) < int(below.split(",")[0])
    unchanged = [key for key in first if first[key] == second.get(key) and key[0] != added[0]]
    assert len(unchanged) >= 1
    assert shape_of(own_stand_in.repository, new, NEW_TAG) == spec.shape


def test_a_pull_request_without_a_second_version_is_named(own_stand_in: StandIn) -> None:
    with pytest.raises(AssertionError, match="#97943 has no second version"):
        force_push(own_stand_in.path, 97943)


def test_the_package_that_one_brings_works(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = BROUGHT / "expert_pool" / "vllm" / "model_executor" / "layers" / "fused_moe"
    monkeypatch.syspath_prepend(str(layers))
    package = importlib.import_module("expert_pool")
    names = importlib.import_module("expert_pool.tables").TENSORS
    host = [{n: [[layer, expert, n] for expert in range(6)] for n in names} for layer in range(2)]
    slots: dict[str, list[list[object] | None]] = {name: [None] * 3 for name in names}
    first, second = package.install(host, slots)

    def rows(found: list[int]) -> list[list[object]]:
        """What every tensor has there, without its name."""
        held = [[rows[slot] for slot in found] for rows in slots.values()]
        assert [row[2:] for each in held for row in each if row] == [
            [name] for name in names for _ in found
        ]
        return [row[:2] for row in held[0] if row]

    assert rows(first.resolve([4, 1, 4])) == [[0, 4], [0, 1], [0, 4]]
    assert rows(second.resolve([1, 2])) == [[1, 1], [1, 2]]
    assert first.pool.misses == 4
    assert rows(first.resolve([1])) == [[0, 1]]
    with pytest.raises(ValueError, match="4 experts do not fit 3 slots"):
        first.resolve(range(4))
