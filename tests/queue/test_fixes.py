"""The life of a fix: replayed, merged again where a side moved, kept where it no longer fits."""

import shutil
from dataclasses import replace

import pytest

from lanewright.places import Places
from lanewright.queue.fix.fixes import expanded, fixes_of
from lanewright.queue.fix.recipe import RecipeError
from lanewright.queue.fix.recipe_files import file_name
from lanewright.queue.fix.recipe_text import encode
from lanewright.store.objects import BlobId
from lanewright.store.write import Content
from tests.upstream.clash import Clash, clash
from tests.upstream.fixtures import Carrying

PATH = "vllm/engine.py"
BASE = b"".join(b"a%d = 1\n" % n for n in range(20))
OURS = BASE.replace(b"a5 = 1\n", b"a5 = 2\n")
THEIRS = BASE.replace(b"a5 = 1\n", b"a5 = 3\n")
MINE = BASE.replace(b"a5 = 1\n", b"a5 = 23\nours = 1\n")
ELSEWHERE = (b"a15 = 1\n", b"a15 = 2\n")
SAME_LINES = (b"a5 = 2\n", b"a5 = 4\n")


@pytest.fixture
def fixed(carrying: Carrying) -> Clash:
    """A lane whose one conflict is settled, built."""
    made = clash(carrying, {PATH: BASE}, {PATH: OURS}, {PATH: THEIRS})
    made.settle({PATH: MINE})
    assert made.built()[PATH] == MINE
    assert made.outcomes() == {"fixed"}
    return made


def state(world: Carrying) -> list[str]:
    return [fix.state for entry in world.lock.entries for fix in entry.fixes]


def test_it_is_replayed_by_a_build_elsewhere_and_after_undo(
    fixed: Clash, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = fixed.world
    lock = world.lock
    world.series.with_suffix(".lock").unlink()
    assert fixed.built()[PATH] == MINE
    assert world.lock == lock
    other = replace(
        world,
        root=world.root.with_name("clone"),
        places=Places(world.places.store.with_name("other"), world.places.state),
    )
    shutil.copytree(world.root, other.root, ignore=shutil.ignore_patterns(".lanewright"))
    monkeypatch.setenv("LANEWRIGHT_STORE", str(other.places.store))
    shutil.copytree(world.places.wheels, other.places.wheels)
    assert other.run("build") == 0
    assert other.read(other.lock.tree)[PATH] == MINE
    assert other.run("verify", "--lock") == 0
    monkeypatch.setenv("LANEWRIGHT_STORE", str(world.places.store))
    assert world.run("drop", "5") == 0
    assert world.run("undo") == 0
    assert world.run("build", "--check") == 0
    assert world.lock == lock


def test_upstream_moved_elsewhere_so_it_is_merged_again_and_stale_until_looked_at(
    fixed: Clash, capfd: pytest.CaptureFixture[str]
) -> None:
    world, run = fixed.world, fixed.world.run
    [first] = fixed.fixes()
    kept = first.read_bytes()
    before = world.lock
    fixed.upstream({PATH: OURS.replace(*ELSEWHERE)})
    capfd.readouterr()
    assert run("rebase", "--check", "--to", "main") == 4
    assert fixed.fixes() == [first]
    assert "lanewright rebase --to main" in capfd.readouterr().err
    assert run("rebase", "--to", "main") == 0
    assert f"fix of {PATH}: stale (overlay/fixes/5/{PATH}." in capfd.readouterr().out
    assert world.read(world.lock.tree)[PATH] == MINE.replace(*ELSEWHERE)
    assert (fixed.outcomes(), state(world)) == ({"fix stale"}, ["stale"])
    [second] = set(fixed.fixes()) - {first}
    assert b"\nremerged: yes\n" in second.read_bytes()
    assert first.read_bytes() == kept
    assert run("build", "--check") == 0
    assert run("undo") == 0  # lock and recipe are one transaction
    assert (world.lock, fixed.fixes()) == (before, [first])
    assert run("rebase", "--to", "main") == 0
    assert run("resolve") == 0
    assert (fixed.folder() / PATH).read_bytes() == MINE.replace(*ELSEWHERE)
    capfd.readouterr()
    assert run("resolve", "5", "--done") == 0
    assert capfd.readouterr().err.endswith("next: lanewright build sample\n")
    assert b"remerged" not in second.read_bytes()
    assert run("build", "--check") == 4
    assert fixed.built()[PATH] == MINE.replace(*ELSEWHERE)
    assert (fixed.outcomes(), state(world)) == ({"fixed"}, ["replayed"])


def test_what_a_check_names_is_there_and_can_be_typed(
    fixed: Clash, capfd: pytest.CaptureFixture[str]
) -> None:
    run, [first] = fixed.world.run, fixed.fixes()
    moved = fixed.upstream({PATH: OURS.replace(*ELSEWHERE)})
    command = f"lanewright resolve 5 --to git:{moved}"
    capfd.readouterr()
    assert run("rebase", "--check", "--to", "main") == 4
    out = capfd.readouterr().out
    assert f"look at what was merged again: {command}\n" in out
    assert f"fix of {PATH}: stale (would be written to overlay/fixes/5/{PATH}." in out
    assert run("report", "--to", "main") == 0
    out = capfd.readouterr().out
    assert f"next: {command}\n" in out
    assert f"fix stale: would be written to overlay/fixes/5/{PATH}." in out
    assert run("report", "--to", "main", "--format", "markdown") == 0
    assert f"- fix stale: would be written to `overlay/fixes/5/{PATH}." in capfd.readouterr().out
    assert run("report") == 0
    assert f"fix replayed: {first.relative_to(fixed.world.root)}\n" in capfd.readouterr().out
    assert run(*command.split()[1:]) == 0
    capfd.readouterr()
    assert run("rebase", "--to", "main") == 0
    out = capfd.readouterr().out
    assert "look at what was merged again: lanewright resolve 5\n" in out
    assert "would be written" not in out


def test_upstream_moved_in_the_same_lines_so_a_person_is_asked_again(fixed: Clash) -> None:
    world, run = fixed.world, fixed.world.run
    [first] = fixed.fixes()
    before = world.lock
    fixed.upstream({PATH: OURS.replace(*SAME_LINES)})
    assert run("rebase", "--to", "main") == 3
    assert (world.lock, fixed.fixes()) == (before, [first])
    assert run("rebase", "--to", "main", "--keep-going") == 3
    assert (fixed.outcomes(), state(world)) == ({"conflict"}, ["unfit"])
    assert run("build", "--check") == 0  # a fix that does not fit is no news
    assert run("build") == 0
    fixed.settle({PATH: b"mine = 2\n"})
    assert run("build", "--check") == 4
    assert fixed.built()[PATH] == b"mine = 2\n"
    assert first in fixed.fixes()
    assert run("rebase", "--to", before.pin.ref) == 0  # the old one still serves there
    assert world.lock.tree == before.tree


def test_the_pull_request_moved_elsewhere_so_it_is_merged_again(fixed: Clash) -> None:
    fixed.pull(5, {PATH: THEIRS.replace(*ELSEWHERE)})
    assert fixed.world.run("add", "5", "--update") == 0
    assert fixed.built()[PATH] == MINE.replace(*ELSEWHERE)
    assert "fix stale" in fixed.outcomes()


def test_a_fix_that_is_not_needed_is_said_and_the_lock_is_free_of_it(
    fixed: Clash, capfd: pytest.CaptureFixture[str]
) -> None:
    [file] = fixed.fixes()
    fixed.upstream({PATH: BASE.replace(*ELSEWHERE)})
    capfd.readouterr()
    assert fixed.world.run("rebase", "--to", "main") == 0
    name = file.relative_to(fixed.world.root)
    assert f"fix not needed here: {name}" in capfd.readouterr().out
    assert state(fixed.world) == []
    file.unlink()
    assert fixed.world.run("build", "--check") == 0


@pytest.mark.parametrize("edits", [[], [ELSEWHERE]])
def test_a_fix_of_which_upstream_has_all_is_not_needed(
    fixed: Clash, capfd: pytest.CaptureFixture[str], edits: list[tuple[bytes, bytes]]
) -> None:
    world, run = fixed.world, fixed.world.run
    [file] = fixed.fixes()
    kept, name = file.read_bytes(), file.relative_to(world.root)
    upstream = MINE
    for edit in edits:
        upstream = upstream.replace(*edit)
    fixed.upstream({PATH: upstream})
    capfd.readouterr()
    assert run("rebase", "--to", "main") == 0
    said = capfd.readouterr().out
    assert f"fix not needed here: {name}" in said
    assert "its file is what its hand fix makes of it" in said
    assert "all of it has landed: lanewright drop 5" in said
    assert (fixed.outcomes(), state(world)) == ({"landed changed"}, ["unneeded"])
    assert (fixed.fixes(), file.read_bytes()) == ([file], kept)
    assert world.lock.tree == world.lock.pin.tree
    assert run("build", "--check") == 0
    assert run("report") == 0
    said = capfd.readouterr().out
    assert said.count(f"fix not needed here: {name}") == 1
    assert f"{PATH} has what its fix makes of it\n" in said
    assert run("resolve") == 1  # nothing waits for a look
    file.unlink()
    assert run("build", "--check") == 4  # the entry still conflicts, so the lock leans on it
    assert run("drop", f"5:{PATH}") == 0
    assert run("build", "--check") == 0


def test_a_fix_that_takes_ours_is_replayed_and_stale_where_a_side_moved(fixed: Clash) -> None:
    [first] = fixed.fixes()
    fixed.upstream({PATH: OURS.replace(*SAME_LINES)})
    assert fixed.world.run("rebase", "--to", "main", "--keep-going") == 3
    fixed.settle({PATH: OURS.replace(*SAME_LINES)})
    fixed.built()
    assert (fixed.outcomes(), state(fixed.world)) == ({"fixed"}, ["replayed"])
    first.unlink()
    fixed.upstream({PATH: OURS.replace(*SAME_LINES).replace(*ELSEWHERE)})
    assert fixed.world.run("rebase", "--to", "main") == 0
    assert (fixed.outcomes(), state(fixed.world)) == ({"fix stale"}, ["stale"])


def test_a_mode_survives_being_merged_again(carrying: Carrying) -> None:
    run = Content("100755", THEIRS)
    made = clash(carrying, {PATH: BASE}, {PATH: OURS}, {PATH: run})
    made.settle({PATH: MINE})
    made.built()
    made.upstream({PATH: OURS.replace(*ELSEWHERE)})
    assert carrying.run("rebase", "--to", "main") == 0
    listed = carrying.repository.run("ls-tree", carrying.lock.tree, PATH).stdout
    assert listed.startswith(b"100755 blob ")
    assert carrying.read(carrying.lock.tree)[PATH] == MINE.replace(*ELSEWHERE)


@pytest.mark.parametrize("agree", [True, False])
def test_two_fixes_that_can_both_be_merged_again_must_agree(fixed: Clash, *, agree: bool) -> None:
    changed = OURS.replace(b"a0 = 1\n", b"a0 = 2\n")
    fixed.upstream({PATH: changed})
    assert fixed.world.run("rebase", "--to", "main") == 0
    mine = MINE.replace(b"a0 = 1\n", b"a0 = 2\n")
    fixed.settle({PATH: mine if agree else mine.replace(b"ours = 1", b"ours = 2")})
    fixed.upstream({PATH: changed.replace(*ELSEWHERE)})
    code = 0 if agree else 3
    assert fixed.world.run("rebase", "--to", "main") == code
    if agree:
        assert fixed.world.read(fixed.world.lock.tree)[PATH] == mine.replace(*ELSEWHERE)


def test_another_lanes_fix_of_the_same_file_is_none_of_this_lanes(
    fixed: Clash, capfd: pytest.CaptureFixture[str]
) -> None:
    world, run = fixed.world, fixed.world.run
    other = world.root / "series/other.toml"
    other.write_bytes(world.series.read_bytes())
    fixed.stand_on(fixed.upstream({PATH: OURS.replace(*SAME_LINES)}), "other")
    capfd.readouterr()
    assert run("build", "other") == 3
    assert "next: lanewright resolve 5 --lane other\n" in capfd.readouterr().err
    assert run("resolve", "5", "--lane", "other") == 0
    assert "then: lanewright resolve 5 --lane other --done" in capfd.readouterr().err
    (fixed.folder(lane="other") / PATH).write_bytes(b"other = 1\n")
    assert run("resolve", "5", "--lane", "other", "--done") == 0
    assert len(fixed.fixes()) == 2
    assert run("build", "--check") == 0
    assert run("build", "other") == 0
    assert run("build", "--check") == 0
    assert fixed.built()[PATH] == MINE


@pytest.mark.parametrize("name", ["overlay/fixes", "overlay/fixes/5"])
@pytest.mark.parametrize("beside", [True, False])
def test_fixes_behind_a_symlink_are_neither_read_nor_written(
    fixed: Clash, capfd: pytest.CaptureFixture[str], name: str, *, beside: bool
) -> None:
    world, run = fixed.world, fixed.world.run
    folder = world.root / name
    target = folder.rename(folder.with_name("real") if beside else world.root.parent / "real")
    folder.symlink_to(target)
    [file] = target.rglob("*.fix")
    kept, lock = file.read_bytes(), world.lock
    file.write_bytes(b"not read")
    fixed.upstream({PATH: OURS.replace(*ELSEWHERE)})
    for command in (["build"], ["rebase", "--to", "main"], ["resolve"], ["report"], ["show", "5"]):
        capfd.readouterr()
        assert run(*command) == 1
        error = capfd.readouterr().err
        assert f"{name} is a symlink to {target}" in error
        assert f"next: rm {folder}, and put" in error
    assert ([*target.rglob("*.fix")], file.read_bytes()) == ([file], b"not read")
    folder.unlink()
    target.rename(folder)
    next(folder.rglob("*.fix")).write_bytes(kept)
    assert run("build", "--check") == 0
    assert world.lock == lock


def test_no_fix_is_recorded_behind_a_symlink(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    made = clash(carrying, {PATH: BASE}, {PATH: OURS}, {PATH: THEIRS})
    assert carrying.run("resolve", "5") == 0
    (made.folder() / PATH).write_bytes(MINE)
    elsewhere = carrying.root.parent / "elsewhere"
    elsewhere.mkdir()
    (carrying.root / "overlay/fixes").symlink_to(elsewhere)
    capfd.readouterr()
    assert carrying.run("resolve", "5", "--done") == 1
    assert "overlay/fixes is a symlink" in capfd.readouterr().err
    assert not [*elsewhere.iterdir()]
    assert (made.folder() / PATH).read_bytes() == MINE


def _without_end(content: bytes) -> bytes:
    return content[:-1]


def _with_another_line(content: bytes) -> bytes:
    return content.replace(b"+ours = 1\n", b"+ours = 2\n")


def test_a_recipe_that_was_damaged_or_moved_stops_by_name(
    fixed: Clash, capfd: pytest.CaptureFixture[str]
) -> None:
    world = fixed.world
    [file] = fixed.fixes()
    kept, name = file.read_bytes(), str(file.relative_to(world.root))
    lock = world.lock
    for content, message in (
        (_without_end(kept), "the file ends within a line"),
        (_with_another_line(kept), "not the result that it names"),
        (kept.replace(b"\nmode: 100644\n", b"\nmode: 120000\n"), "is not of a regular file"),
        (b"", "where 'lanewright-fix 1' must be"),
    ):
        file.write_bytes(content)
        capfd.readouterr()
        assert world.run("build") == 1
        error = capfd.readouterr().err
        assert name in error
        assert message in error
        assert "next: " in error
    file.write_bytes(kept)
    moved = file.rename(file.with_name("elsewhere.py.00000000.fix"))
    assert world.run("build") == 1
    assert f"mv {moved} {file}" in capfd.readouterr().err
    moved.rename(file)
    assert world.run("build", "--check") == 0
    assert world.lock == lock


def test_a_fix_of_sides_that_the_store_lacks_leaves_a_plain_conflict(fixed: Clash) -> None:
    [file] = fixed.fixes()
    [fix] = fixes_of(fixed.world.project, "5")
    lost = replace(fix.recipe, ours=BlobId("1" * 40))
    file.unlink()
    file.with_name(f"{file_name(lost).rpartition('/')[2]}").write_bytes(encode(lost))
    lock = fixed.world.lock
    assert fixed.world.run("build") == 3
    assert fixed.world.lock == lock
    [unknown] = fixes_of(fixed.world.project, "5")
    with pytest.raises(RecipeError, match=rf"{unknown.file}: the store does not hold ours of"):
        expanded(fixed.world.repository, unknown)


def test_a_fix_expands_in_full(fixed: Clash) -> None:
    [fix] = fixes_of(fixed.world.project, "5")
    assert expanded(fixed.world.repository, fix) == MINE


def test_a_fixed_file_passes_the_gates_or_is_no_lane(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    made = clash(carrying, {PATH: BASE}, {PATH: OURS}, {PATH: THEIRS})
    made.settle({PATH: MINE})
    [fix] = fixes_of(carrying.project, "5")
    [file] = made.fixes()
    text = encode(fix.recipe).replace(b"+ours = 1\n", b"+def broken(:\n")
    broken = MINE.replace(b"ours = 1\n", b"def broken(:\n")
    blob = carrying.repository.run("hash-object", "--stdin", stdin=broken).stdout.strip()
    file.write_bytes(text.replace(fix.recipe.result.encode(), blob))
    capfd.readouterr()
    assert carrying.run("build") == 1
    error = capfd.readouterr().err
    assert f"entry 1 (5): {PATH}, line 7: does not compile" in error
    assert "mend the entry or its fix" in error


def _twins(names: str, edited: str = "") -> bytes:
    """A class with one method per letter, all of one body save the edited one."""
    text = "top = 1\n\n\nclass A:\n"
    for name in names:
        body = "        self.check()\n        value = self.load()\n        return value\n"
        more = body.replace("value\n", "value + 1\n") if name == edited else body
        text += f"    def {name}(self):\n{more}\n"
    return text.encode()


def test_it_is_not_merged_again_into_a_twin(carrying: Carrying) -> None:
    """The person put the methods into another order, and upstream edits one: git edits another."""
    base, two, three = (_twins("abc").replace(b"top = 1", b"top = %d" % n) for n in (1, 2, 3))
    made = clash(carrying, {PATH: base}, {PATH: two}, {PATH: three})
    made.settle({PATH: _twins("bac")})
    assert made.built()[PATH] == _twins("bac")
    made.upstream({PATH: _twins("abc", "b").replace(b"top = 1", b"top = 2")})
    assert carrying.run("rebase", "--to", "main") == 3


def test_a_lane_goes_back_from_a_commit_to_a_release(fixed: Clash) -> None:
    assert fixed.world.run("drop", "5") == 0
    assert fixed.world.run("rebase", "--to", "release:0.32.0") == 0
    assert "release =" not in fixed.world.series.read_text()
    assert fixed.world.lock.pin.source == "release"


def test_what_was_merged_again_is_not_called_unneeded_where_upstream_took_half_of_it_back(
    carrying: Carrying,
) -> None:
    made = clash(carrying, {PATH: BASE}, {PATH: OURS}, {PATH: THEIRS})
    top, feature = b"import pool\n", b"a5 = 23\n"
    made.settle({PATH: top + OURS.replace(b"a5 = 2\n", feature)})
    assert made.built()[PATH].startswith(top)
    made.upstream({PATH: OURS.replace(b"a5 = 2\n", feature)})
    assert carrying.run("rebase", "--to", "main") == 0
    assert made.outcomes() == {"fix stale"}
    made.upstream({PATH: top + OURS.replace(b"a5 = 2\n", b"a5 = 24\n")})
    carrying.run("rebase", "--to", "main")
    assert made.outcomes() == {"fix stale"}  # and says that a person should look at it
    assert state(carrying) == ["stale"]
