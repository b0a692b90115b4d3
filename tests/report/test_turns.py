"""Where on upstream's way a pull request stopped merging, and what made each hunk what it is."""

from dataclasses import dataclass

import pytest

from lanewright.store.objects import CommitId
from tests.report.conftest import Told
from tests.report.reading import entry_of, hunk_at, turns_of
from tests.upstream.clash import Clash, Files, clash
from tests.upstream.diff import git
from tests.upstream.fixtures import Carrying

PATH, OTHER, NEW = "vllm/engine.py", "vllm/other.py", "vllm/new.py"
TEXT = b"".join(b"def f_%d():\n    return %d\n\n\n" % (n, n) for n in range(6))


def edited(number: int, value: int, text: bytes = TEXT) -> bytes:
    return text.replace(b"return %d\n" % number, b"return %d\n" % value)


THEIRS = edited(2, 22)


@dataclass(frozen=True)
class Way:
    """Upstream's branch after the commit that pull request 5 is made on."""

    clash: Clash

    def goes(self, *states: Files) -> list[CommitId]:
        """One commit per state; the lane stands on the last."""
        made: list[CommitId] = []
        for state in states:
            made.append(self.clash.upstream(state, onto=made[-1] if made else None))
        self.clash.stand_on(made[-1])
        assert self.clash.world.run("fetch") == 0
        return made


@pytest.fixture
def way(carrying: Carrying) -> Way:
    both = {PATH: TEXT, OTHER: TEXT}
    return Way(clash(carrying, both, {NEW: b"x = 1\n"}, {PATH: THEIRS, OTHER: THEIRS}, code=0))


def test_what_touched_the_lines_is_the_cause(way: Way, told: Told) -> None:
    aside, guilty, later = way.goes(
        {PATH: edited(5, 55)},
        {PATH: edited(2, 3, edited(5, 55))},
        {PATH: edited(2, 3, edited(5, 56))},
    )
    report = told(way.clash.world)
    hunk = hunk_at(report, PATH)
    assert (hunk["outcome"], hunk["cause"]["commit"]["id"]) == ("conflict", guilty)
    assert hunk["cause"]["told"].startswith(f"upstream's {guilty[:12]} (2000-01-01) 'a change'")
    assert turns_of(report) == [(False, guilty, False)]
    assert entry_of(report, "5")["tried"] == 3
    assert aside != guilty != later


def test_what_broke_and_was_mended_and_broke_again_is_said(
    way: Way, told: Told, capfd: pytest.CaptureFixture[str]
) -> None:
    first, mended, last = way.goes({PATH: edited(2, 3)}, {PATH: TEXT}, {PATH: edited(2, 4)})
    report = told(way.clash.world)
    assert turns_of(report) == [(False, first, False), (True, mended, False), (False, last, False)]
    assert hunk_at(report, PATH)["cause"]["commit"]["id"] == last
    assert way.clash.world.run("report") == 3
    said = capfd.readouterr().out
    assert f"  stops merging at upstream's {first[:12]} " in said
    assert f"  merges again from upstream's {mended[:12]} " in said
    assert f"  stops merging again at upstream's {last[:12]} " in said


def test_two_files_that_break_one_after_the_other_are_one_break(way: Way, told: Told) -> None:
    first, second = way.goes({PATH: edited(2, 3)}, {OTHER: edited(2, 3)})
    report = told(way.clash.world)
    assert turns_of(report) == [(False, first, False)]
    causes = {path: hunk_at(report, path)["cause"]["commit"]["id"] for path in (PATH, OTHER)}
    assert causes == {PATH: first, OTHER: second}


def test_who_removed_a_file(way: Way, told: Told) -> None:
    _, gone, _ = way.goes({OTHER: edited(5, 6)}, {OTHER: None}, {NEW: b"x = 2\n"})
    report = told(way.clash.world)
    hunk = hunk_at(report, OTHER)
    assert (hunk["outcome"], hunk["cause"]["commit"]["id"]) == ("file missing", gone)
    assert hunk["cause"]["told"].endswith("removed the file")
    assert turns_of(report) == [(False, gone, False)]


def test_who_took_a_hunk_in(way: Way, told: Told) -> None:
    landed, _ = way.goes({PATH: THEIRS}, {PATH: edited(5, 6, THEIRS)})
    report = told(way.clash.world, code=0)
    hunk = hunk_at(report, PATH)
    assert (hunk["outcome"], hunk["cause"]["commit"]["id"]) == ("landed", landed)
    assert hunk["cause"]["told"].endswith("has it too")
    assert turns_of(report) == []


def test_what_was_taken_in_taken_out_and_taken_in_again(way: Way, told: Told) -> None:
    _, _, again = way.goes({PATH: THEIRS}, {PATH: TEXT}, {PATH: THEIRS})
    assert hunk_at(told(way.clash.world, code=0), PATH)["cause"]["commit"]["id"] == again


def test_a_pin_that_is_older_than_the_base_lacks_what_the_entry_is_made_on(
    way: Way, told: Told
) -> None:
    world = way.clash.world
    older, brings, edits = way.goes(
        {OTHER: edited(5, 6)}, {NEW: TEXT}, {PATH: edited(2, 3), NEW: edited(2, 3)}
    )
    changes = {PATH: edited(2, 22), NEW: edited(2, 22)}
    way.clash.pull(6, changes, onto=edits)
    assert world.run("drop", "5") == 0
    assert world.run("add", "6") == 0
    way.clash.stand_on(older)
    report = told(world)
    missing, conflict = hunk_at(report, NEW, "6"), hunk_at(report, PATH, "6")
    assert (missing["outcome"], missing["cause"]["commit"]["id"]) == ("file missing", brings)
    assert missing["cause"]["told"].endswith(
        "brought the file in, which it is made on and the pin lacks"
    )
    assert (conflict["outcome"], conflict["cause"]["commit"]["id"]) == ("conflict", edits)
    assert conflict["cause"]["lacking"]
    assert turns_of(report, "6") == [(False, edits, True)]


def test_another_entry_is_the_cause_where_upstream_is_not(way: Way, told: Told) -> None:
    world = way.clash.world
    way.clash.pull(6, {PATH: edited(2, 222), OTHER: edited(4, 44)})
    assert world.run("add", "6") == 3
    report = told(world)
    hunk = hunk_at(report, PATH, "6")
    assert hunk["cause"]["entries"] == ["5"]
    assert hunk["cause"]["told"] == "the entry 5 changed these lines"
    assert hunk["sides"]["ours"]["lines"] == ["    return 22"]
    assert turns_of(report, "6") == []


def test_upstream_is_the_cause_though_another_entry_changed_the_file(way: Way, told: Told) -> None:
    world = way.clash.world
    way.clash.pull(6, {PATH: edited(4, 44)})
    [guilty] = way.goes({PATH: edited(4, 5)})
    assert world.run("add", "6") == 3
    cause = hunk_at(told(world), PATH, "6")["cause"]
    assert (cause["commit"]["id"], cause.get("entries")) == (guilty, None)


def test_the_three_sides_are_the_lines_that_a_merge_would_mark(way: Way, told: Told) -> None:
    way.goes({PATH: edited(2, 3, b"import os\n" + TEXT)})
    hunk = hunk_at(told(way.clash.world), PATH)
    assert hunk["sides"] == {
        "base": {"first": 10, "lines": ["    return 2"]},
        "ours": {"first": 11, "lines": ["    return 3"]},
        "theirs": {"first": 10, "lines": ["    return 22"]},
    }


def test_merges_of_upstreams_branch_are_followed_along_its_first_parents(
    way: Way, told: Told
) -> None:
    from lanewright.store.git import Repository  # noqa: PLC0415
    from lanewright.store.objects import tree_of  # noqa: PLC0415
    from lanewright.store.write import commit, set_ref  # noqa: PLC0415

    [start] = way.goes({OTHER: edited(5, 6)})
    upstream = Repository(way.clash.world.upstream)
    side = way.clash.upstream({PATH: edited(2, 3)}, onto=start)
    merged = commit(upstream, tree_of(upstream, side), "Merge a branch\n", [start, side])
    set_ref(upstream, "refs/heads/main", merged)
    way.clash.stand_on(merged)
    assert way.clash.world.run("fetch") == 0
    report = told(way.clash.world)
    assert hunk_at(report, PATH)["cause"]["commit"]["id"] == merged
    assert turns_of(report) == [(False, merged, False)]


def test_a_submodule_of_a_watched_pull_request_is_not_asked_for(way: Way, told: Told) -> None:
    world = way.clash.world
    link = "e" * 40
    work = world.root.parent / "work"
    git(world.root.parent, "clone", "--quiet", str(world.upstream), str(work))
    git(work, "checkout", "--quiet", "--detach", way.clash.before)
    (work / PATH).write_bytes(edited(4, 44))
    git(work, "update-index", "--add", "--cacheinfo", f"160000,{link},vllm/sub")
    git(work, "commit", "--quiet", "-am", "a submodule")
    git(work, "push", "--quiet", "origin", "HEAD:refs/pull/6/head")
    series = world.series
    series.write_text(series.read_text().replace("\n[model]", "watch = [6]\n\n[model]"))
    assert world.run("fetch") == 0
    entry = entry_of(told(world, code=0), "6")
    assert hunk_at({"entries": [entry]}, PATH, "6")["outcome"] == "clean"


def test_a_watched_one_that_cannot_be_tried_stops_nothing(
    way: Way, told: Told, capfd: pytest.CaptureFixture[str]
) -> None:
    world = way.clash.world
    way.clash.pull(6, {"docs/a.md": b"x\n"})
    series = world.series
    series.write_text(series.read_text().replace("\n[model]", "watch = [6, 5]\n\n[model]"))
    capfd.readouterr()
    assert world.run("fetch") == 0
    assert "#6 cannot be tried: " in capfd.readouterr().err
    report = told(world, code=0)
    assert [entry["name"] for entry in report["entries"]] == ["5", "6"]
    assert entry_of(report, "6")["verdict"] == "not tried"
    assert "touches nothing below vllm/" in entry_of(report, "6")["notes"][0]


def test_a_watched_one_that_upstream_does_not_have_stops_no_other(
    way: Way, told: Told, capfd: pytest.CaptureFixture[str]
) -> None:
    world = way.clash.world
    way.clash.pull(6, {OTHER: edited(5, 55)})
    series = world.series
    series.write_text(series.read_text().replace("\n[model]", "watch = [99, 6]\n\n[model]"))
    capfd.readouterr()
    assert world.run("fetch") == 0
    said = capfd.readouterr().err
    assert "#99 is watched in series/sample.toml, and upstream has no such pull request" in said
    report = told(world, code=0)
    assert entry_of(report, "6")["verdict"] == "clean"
    assert entry_of(report, "99")["next"] == ["lanewright fetch sample"]


def test_what_a_rule_keeps_out_of_a_watched_one_is_told(
    way: Way, told: Told, capfd: pytest.CaptureFixture[str]
) -> None:
    world = way.clash.world
    way.clash.pull(6, {"vllm/conftest.py": b"x = 1\n", OTHER: edited(5, 55)})
    series = world.series
    series.write_text(series.read_text().replace("\n[model]", "watch = [6]\n\n[model]"))
    assert world.run("fetch") == 0
    report = told(world, code=0)
    entry = entry_of(report, "6")
    assert entry["verdict"] == "1 of it refused by rule"
    assert hunk_at(report, "vllm/conftest.py", "6")["refused"].startswith("packaging: ")
    assert hunk_at(report, OTHER, "6")["outcome"] == "clean"
    assert world.run("report", "--format", "github") == 0
    assert "#6: 1 of it refused by rule (watched)" in capfd.readouterr().out


def test_another_pin_can_be_asked_about(
    way: Way, told: Told, capfd: pytest.CaptureFixture[str]
) -> None:
    world = way.clash.world
    guilty = way.clash.upstream({PATH: edited(2, 3)})
    before = (world.series.read_bytes(), (world.root / "series/sample.lock").read_bytes())
    assert told(world, code=0)["complete"]
    capfd.readouterr()
    assert world.run("report", "--to", "main") == 3
    said = capfd.readouterr().out
    assert f"lane sample on git:{guilty}" in said
    assert f"  stops merging at upstream's {guilty[:12]} " in said
    assert f"  next: lanewright resolve 5 --to git:{guilty}\n" in said
    assert (world.series.read_bytes(), (world.root / "series/sample.lock").read_bytes()) == before


def test_what_cannot_be_carried_is_told_with_all_the_rest(
    way: Way, told: Told, capfd: pytest.CaptureFixture[str]
) -> None:
    world = way.clash.world
    head = way.clash.pull(6, {"vllm/conftest.py": b"x = 1\n", OTHER: edited(5, 55)})
    world.series.write_text(
        world.series.read_text()
        + f'\n[[entry]]\npull = 6\nhead = "{head}"\nbase = "{way.clash.before}"\n'
    )
    report = told(world, code=1)
    assert [entry["verdict"] for entry in report["entries"]] == ["clean", "1 of it refused by rule"]
    assert "6: vllm/conftest.py, hunk " in report["fault"]
    assert not report["complete"]
    assert world.run("report", "--format", "github") == 1
    said = capfd.readouterr()
    assert said.out.startswith("::error ")
    assert "no tree: lane sample: chosen hunks are refused:" in said.out
    assert "--allow packaging:vllm/conftest.py" in said.err
