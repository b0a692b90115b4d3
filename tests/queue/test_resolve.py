"""What ``resolve --done`` takes from a person, what it refuses, and what it keeps then."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.upstream.clash import Clash, clash
from tests.upstream.diff import own_patch
from tests.upstream.fixtures import Carrying

ONE, TWO = "vllm/one.py", "vllm/two.py"
BASE = b"a = 1\nb = 1\nc = 1\nd = 1\ne = 1\nf = 1\n"
OURS = BASE.replace(b"b = 1", b"b = 2")
THEIRS = BASE.replace(b"b = 1", b"b = 3")
MINE = b"mine = 1\n"


@pytest.fixture
def opened(carrying: Carrying) -> Clash:
    """Two files in conflict; a person has settled both, and not said so yet."""
    made = clash(carrying, *(dict.fromkeys((ONE, TWO), side) for side in (BASE, OURS, THEIRS)))
    assert carrying.run("resolve", "5") == 0
    for path in (ONE, TWO):
        (made.folder() / path).write_bytes(MINE)
    return made


def _replace_by_symlink(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.with_name("two.py"))


def _replace_by_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _replace_its_folder_by_symlink(file: Path) -> None:
    file.parent.rename(file.parent.with_name("elsewhere"))
    file.parent.symlink_to("elsewhere")


def _replace_its_folder_by_file(file: Path) -> None:
    shutil.rmtree(file.parent)
    file.parent.write_bytes(b"")


def test_what_cannot_be_recorded_is_named_and_stays(
    opened: Clash, capfd: pytest.CaptureFixture[str]
) -> None:
    file = opened.folder() / ONE
    for content, line, why in (
        (b"a = 1\n<<<<<<< ours\n", 2, "a conflict marker was left in it"),
        (b"a = 1\nb = 2\n>>>>>>> theirs\n", 3, "a conflict marker was left in it"),
        (b"||||||| base\n", 1, "a conflict marker was left in it"),
        (b'"""A title\n=======\n"""\n', 2, "a conflict marker was left in it"),
        (b"a = 1\ndef broken(:\n", 2, "does not compile"),
    ):
        file.write_bytes(content)
        capfd.readouterr()
        assert opened.world.run("resolve", "5", "--done") == 3
        error = capfd.readouterr().err
        assert f"entry 5: {file}, line {line}: {why}" in error
        assert "next: edit, then: lanewright resolve 5 --done" in error
        assert file.read_bytes() == content
        assert (opened.folder() / TWO).read_bytes() == MINE
        assert not opened.fixes()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_replace_by_symlink, f"{ONE}: it is a symlink now"),
        (_replace_by_folder, f"{ONE}: it is no regular file now"),
        (_replace_its_folder_by_symlink, f"{ONE}: vllm is no folder any more"),
        (_replace_its_folder_by_file, f"{ONE}: vllm is no folder any more"),
    ],
)
def test_something_else_in_a_files_place_is_refused(
    opened: Clash, change: Callable[[Path], None], why: str, capfd: pytest.CaptureFixture[str]
) -> None:
    change(opened.folder() / ONE)
    assert opened.world.run("resolve", "5", "--done") == 3
    assert f"entry 5: {opened.folder()}/{why}" in capfd.readouterr().err
    assert opened.folder().exists()
    assert not opened.fixes()


def test_nothing_open_and_nothing_to_open_are_told_apart(
    opened: Clash, capfd: pytest.CaptureFixture[str]
) -> None:
    run = opened.world.run
    opened.folder().rename(opened.folder().with_name("kept"))
    for arguments, message, hint in (
        (["5", "--done"], f"entry 5: nothing is open in {opened.folder()}", "lanewright resolve 5"),
        (["6"], "no entry '6' (it has: 5)", "lanewright list sample"),
    ):
        capfd.readouterr()
        assert run("resolve", *arguments) == 1
        error = capfd.readouterr().err
        assert message in error
        assert error.endswith(f"next: {hint}\n")
    opened.settle({ONE: MINE, TWO: MINE})
    capfd.readouterr()
    assert run("resolve", "5") == 1
    assert "entry 5 has no conflict (nothing waits for a person)" in capfd.readouterr().err
    assert run("resolve") == 1
    assert "nothing waits for a person" in capfd.readouterr().err


def test_conflicts_that_moved_are_refused_and_edits_kept(
    opened: Clash, capfd: pytest.CaptureFixture[str]
) -> None:
    world = opened.world
    series = world.series.read_bytes()

    def refused(message: str, hint: str = "lanewright resolve 5 --again") -> None:
        for more in ([], ["--done"]):
            capfd.readouterr()
            assert world.run("resolve", "5", *more) == 1
            error = capfd.readouterr().err
            assert message in error
            assert f"your edits stay in {opened.folder()}" in error
            assert f"then: {hint}" in error
        assert (opened.folder() / ONE).read_bytes() == MINE
        assert not opened.fixes()

    assert world.run("drop", f"5:{TWO}") == 3  # the selection changed
    refused(f"its conflicts are others now, in {TWO}")
    world.series.write_bytes(series)
    moved = opened.upstream({ONE: OURS, TWO: OURS, "vllm/new.py": b""})
    opened.stand_on(moved)  # the same sides, on another pin
    refused(f"and git:{moved} is meant now")
    world.series.write_bytes(series)
    opened.pull(4, {ONE: BASE.replace(b"f = 1", b"f = 2")})
    assert world.run("add", "4") == 3
    text = world.series.read_text()
    head, _, entries = text.partition("[[entry]]")
    five, four = entries.split("[[entry]]")
    world.series.write_text(f"{head}[[entry]]{four}\n[[entry]]{five}")  # another entry before it
    refused("its conflicts are others now, in vllm/one.py")
    assert world.run("resolve", "5", "--again") == 0
    assert (opened.folder() / ONE).read_bytes() != MINE


def test_an_entry_that_conflicts_with_another_says_so_and_has_its_own_fix(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    made = clash(carrying, {ONE: BASE}, {}, {ONE: OURS}, code=0)
    made.pull(6, {ONE: THEIRS})
    capfd.readouterr()
    assert carrying.run("add", "6") == 3
    error = capfd.readouterr().err
    assert f"6: {ONE}, hunk " in error
    assert f"{ONE} was changed by the entry 5" in error
    made.settle({ONE: MINE}, "6")
    assert made.built()[ONE] == MINE
    assert (made.outcomes("5"), made.outcomes("6")) == ({"clean"}, {"fixed"})
    assert not made.fixes("5")


def test_an_own_patch_has_fixes_under_its_name(carrying: Carrying, tmp_path: Path) -> None:
    made = clash(carrying, {ONE: BASE}, {}, {TWO: MINE}, code=0)
    old = carrying.read(carrying.lock.tree)
    patch = own_patch(tmp_path / "made", old, {**old, ONE: THEIRS}, base=f"git:{made.before}")
    (carrying.root / "patches/own/hook.patch").write_bytes(patch)
    made.stand_on(made.upstream({ONE: OURS}))
    with carrying.series.open("a") as series:
        series.write('\n[[entry]]\npatch = "own/hook.patch"\n')
    assert carrying.run("build") == 3
    made.settle({ONE: MINE}, "hook")
    assert made.built()[ONE] == MINE
    assert [path.parent.name for path in made.fixes("hook")] == ["vllm"]
    assert made.outcomes("hook") == {"fixed"}
