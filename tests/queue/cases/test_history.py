"""What a pull request is a change of, and its objects: from the history, whatever was pushed since.

Own patches name their base themselves and need no history; `tests/store/test_history.py` has merge
bases alone, and `tests/store/test_remote_clones.py` has shallow and partial remotes.
"""

import re
import shutil
from pathlib import Path

import pytest

from lanewright.queue.pull.drifted import drifted
from lanewright.queue.pull.pulls import known_head, read_pull
from tests.queue.cases.lane import MAIN, Lane
from tests.upstream.diff import git

FILE, OTHER = "vllm/x.py", "vllm/y.py"
LINES = b"".join(b"line_%d = 0\n" % number for number in range(30))
FIRST, LAST = LINES.replace(b"line_1 =", b"one ="), LINES.replace(b"line_28 =", b"last =")
BOTH = FIRST.replace(b"line_28 =", b"last =")

Capture = pytest.CaptureFixture[str]


def base_of(lane: Lane) -> str:
    pull = lane.lock.entries[0].pull
    assert pull
    return pull.base


def test_wrong_base_is_not_taken_when_main_moved_on(lane: Lane) -> None:
    base = lane.start({FILE: LINES, OTHER: LINES})
    lane.pull({FILE: FIRST}, base)
    lane.pin(lane.commit(MAIN, {OTHER: FIRST}, base))
    assert lane.run("add", "1") == 0
    assert base_of(lane) == base
    assert lane.outcomes() == ["clean"]
    assert lane.read() == {FILE: FIRST, OTHER: FIRST}


def test_wrong_base_after_a_rebase_is_found_anew(lane: Lane, capfd: Capture) -> None:
    base = lane.start({FILE: LINES, OTHER: LINES})
    lane.pull({FILE: FIRST}, base)
    assert lane.run("add", "1") == 0
    moved = lane.commit(MAIN, {OTHER: FIRST}, base)
    lane.pull({FILE: FIRST}, moved)
    assert lane.run("add", "1", "--update") == 0
    assert base_of(lane) == moved
    assert [hunk.path for hunk in lane.lock.entries[0].hunks] == [FILE]
    assert lane.read() == {FILE: FIRST, OTHER: LINES}
    assert "no ancestor of the pin" in capfd.readouterr().err


def test_wrong_base_of_a_release_branch_is_told(lane: Lane, capfd: Capture) -> None:
    base = lane.start({FILE: LINES, OTHER: LINES})
    branch = lane.commit("refs/heads/releases/v1", {OTHER: FIRST}, base)
    lane.pull({FILE: FIRST}, branch)
    file = lane.root / "upstream.toml"
    file.write_text(file.read_text() + 'branch = "releases/v1"\n')
    assert lane.run("add", "1") == 0
    assert base_of(lane) == branch
    said = capfd.readouterr().err
    assert f"a change of {branch[:12]}, which is no ancestor of the pin {base[:12]}" in said
    assert lane.read() == {FILE: FIRST, OTHER: LINES}


def test_wrong_base_where_a_pull_request_is_retargeted(lane: Lane) -> None:
    base = lane.start({FILE: LINES, OTHER: LINES})
    under = lane.pull({OTHER: FIRST}, base, number=2)
    lane.pull({FILE: FIRST}, under)
    assert lane.run("add", "1") == 0
    assert sorted(hunk.path for hunk in lane.lock.entries[0].hunks) == [FILE, OTHER]
    assert lane.run("add", "2") == 0
    assert lane.run("add", "1", "--update") == 0
    assert base_of(lane) == under
    assert [hunk.path for hunk in lane.lock.entries[0].hunks] == [FILE]
    assert lane.read() == {FILE: FIRST, OTHER: FIRST}


def test_merge_in_pr_brings_its_resolution_and_none_of_upstreams_changes(lane: Lane) -> None:
    base = lane.start({FILE: LINES, OTHER: LINES})
    work = lane.commit("refs/heads/work", {FILE: FIRST}, base)
    main = lane.commit(MAIN, {FILE: LINES.replace(b"line_1 =", b"uno ="), OTHER: LAST}, base)
    resolved = LINES.replace(b"line_1 =", b"uno_and_one =")
    lane.pull({FILE: resolved, OTHER: LAST}, work, main)
    lane.pin(main)
    assert lane.run("add", "1") == 0
    assert base_of(lane) == main
    (hunk,) = lane.lock.entries[0].hunks
    assert (hunk.path, hunk.outcome) == (FILE, "clean")
    assert lane.read() == {FILE: resolved, OTHER: LAST}


def test_merge_in_pr_twice_over_has_one_net_change(lane: Lane) -> None:
    base = lane.start({FILE: LINES, OTHER: LINES})
    work = lane.commit("refs/heads/work", {FILE: FIRST}, base)
    main = lane.commit(MAIN, {OTHER: FIRST}, base)
    merged = lane.commit("refs/heads/work", {OTHER: FIRST}, work, main)
    later = lane.commit(MAIN, {OTHER: BOTH}, main)
    lane.pull({OTHER: BOTH}, merged, later)
    lane.pin(later)
    assert lane.run("add", "1") == 0
    assert (base_of(lane), lane.outcomes()) == (later, ["clean"])
    assert lane.read() == {FILE: FIRST, OTHER: BOTH}


def test_net_change_of_commits_that_take_each_other_back(lane: Lane) -> None:
    base = lane.start({FILE: LINES, OTHER: LINES})
    one = lane.commit("refs/heads/work", {FILE: BOTH, "vllm/new.py": b"new = 1\n"}, base)
    two = lane.commit("refs/heads/work", {FILE: FIRST, OTHER: None}, one)
    lane.pull({"vllm/new.py": b"new = 2\n", OTHER: LINES}, two)
    assert lane.run("add", "1") == 0
    assert [(hunk.path, hunk.lines) for hunk in lane.hunks()] == [
        ("vllm/new.py", "1+0"),
        (FILE, "1+5"),
    ]
    assert lane.read() == {FILE: FIRST, OTHER: LINES, "vllm/new.py": b"new = 2\n"}


def test_net_change_of_nothing_is_told(lane: Lane, capfd: Capture) -> None:
    base = lane.start({FILE: LINES})
    lane.pull({FILE: LINES}, lane.commit("refs/heads/work", {FILE: FIRST}, base))
    assert lane.run("add", "1") == 1
    error = capfd.readouterr().err
    assert re.search(r"lanewright: #\d+, the change \w+\.\.\w+ touches nothing below vllm/", error)


def test_force_push_between_add_and_build_changes_nothing(lane: Lane) -> None:
    base = lane.start({FILE: LINES})
    first = lane.pull({FILE: BOTH}, base)
    assert lane.run("add", "1") == 0
    lock = lane.lock
    reworded = BOTH.replace(b"one = 0\n", b"one = 1\n").replace(b"last = 0\n", b"line_28 = 0\n")
    second = lane.pull({FILE: reworded.replace(b"line_15", b"new")}, base)
    (lane.root / "series/sample.lock").unlink()
    assert [lane.run("build"), lane.run("fetch"), lane.run("build", "--check")] == [0, 0, 0]
    assert lane.lock == lock
    assert lane.read() == {FILE: BOTH}
    assert known_head(lane.project, lane.places, 1) == second
    before, after = (read_pull(lane.project, lane.places, 1, base, h) for h in (first, second))
    found = drifted(before, frozenset(unit.id for unit in before.units), after)
    assert [each.what for each in found] == ["changed", "gone", "new"]


def test_force_push_is_followed_on_demand_alone(lane: Lane, capfd: Capture) -> None:
    base = lane.start({FILE: LINES})
    lane.pull({FILE: BOTH}, base)
    assert lane.run("add", "1") == 0
    second = lane.pull({FILE: b"above = 0\n" * 9 + FIRST}, base)
    capfd.readouterr()
    assert lane.run("add", "1", "--update") == 0
    said = capfd.readouterr().err
    assert f"-> {second[:12]}" in said
    assert "gone" in said
    assert lane.read() == {FILE: b"above = 0\n" * 9 + FIRST}


def test_commit_gone_at_the_remote_is_built_from_the_store(lane: Lane) -> None:
    base = lane.start({FILE: LINES})
    lane.pull({FILE: FIRST}, base)
    assert lane.run("add", "1") == 0
    lane.pull({FILE: LAST}, base)
    lane.upstream.run("-c", "gc.pruneExpire=now", "gc", "--quiet", "--prune=now")
    (lane.root / "series/sample.lock").unlink()
    assert lane.run("build") == 0
    assert lane.read() == {FILE: FIRST}


def test_commit_gone_with_the_store_is_an_error_by_name_until_a_bundle_comes(
    lane: Lane, capfd: Capture, tmp_path: Path
) -> None:
    base = lane.start({FILE: LINES})
    head = lane.pull({FILE: FIRST}, base)
    assert lane.run("add", "1") == 0
    lock = lane.lock
    assert lane.run("export", "--out", str(tmp_path / "kept")) == 0
    lane.pull({FILE: LAST}, base)
    lane.upstream.run("-c", "gc.pruneExpire=now", "gc", "--quiet", "--prune=now")
    shutil.rmtree(lane.places.store)
    capfd.readouterr()
    assert lane.run("build") == 1
    said = capfd.readouterr().err
    assert "commit gone" in said
    assert head in said
    assert lane.lock == lock
    assert lane.run("fetch", "--bundle", str(tmp_path / "kept/sample.bundle")) == 0
    assert lane.run("build") == 0
    assert lane.lock == lock
    assert lane.read() == {FILE: FIRST}


@pytest.mark.parametrize("flags", [["--depth=1"], ["--filter=blob:none"]])
def test_shallow_remote_stops_with_the_command_to_run(
    lane: Lane, capfd: Capture, tmp_path: Path, flags: list[str]
) -> None:
    base = lane.start({FILE: LINES})
    lane.pull({FILE: FIRST}, base)
    lane.commit(MAIN, {FILE: LAST}, base)
    lane.upstream.run("config", "uploadpack.allowFilter", "true")
    url = f"file://{lane.upstream.path}"
    clone = tmp_path / "clone.git"
    git(tmp_path, "clone", "--quiet", "--bare", *flags, url, str(clone))
    if flags == ["--depth=1"]:
        git(clone, "fetch", "--quiet", "--depth=1", url, "+refs/pull/*:refs/pull/*")
    else:
        git(clone, "fetch", "--quiet", "--filter=blob:none", url, "+refs/pull/*:refs/pull/*")
    file = lane.root / "upstream.toml"
    file.write_text(file.read_text().replace(str(lane.upstream.path), str(clone)))
    before = lane.series.read_bytes()
    assert lane.run("add", "1") == 1
    said = capfd.readouterr().err
    assert "next: " in said
    assert "--unshallow" in said if flags == ["--depth=1"] else "--refetch" in said
    assert lane.series.read_bytes() == before


def test_shallow_store_stops_before_a_merge_base_is_guessed(lane: Lane, capfd: Capture) -> None:
    base = lane.start({FILE: LINES})
    lane.pull({FILE: FIRST}, base)
    assert lane.run("build") == 0
    (lane.places.objects / "shallow").write_text(f"{base}\n")
    assert lane.run("add", "1") == 1
    assert "shallow" in capfd.readouterr().err
