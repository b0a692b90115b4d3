"""What earlier builds made of entries: taken where nothing moved, and nowhere that proves anything."""

import shutil
from pathlib import Path

import msgspec
import pytest

from lanewright.queue.known import makers as makers_module
from lanewright.queue.known.makers import makers
from lanewright.store.memo import Memo
from tests.upstream.fixtures import Carrying

ROWS, BATCH, STAGING = "97943", "91474", "92060"


@pytest.fixture
def rows(carrying: Carrying) -> Carrying:
    """A lane of two pull requests that was built once more than it was added to."""
    assert carrying.run("add", ROWS) == 0
    assert carrying.run("add", BATCH) == 0
    rebuilt(carrying)
    return carrying


def rebuilt(carrying: Carrying) -> bytes:
    """The lock's bytes, after a build without one."""
    lock = carrying.root / "series/sample.lock"
    lock.unlink(missing_ok=True)
    assert carrying.run("build") == 0
    return lock.read_bytes()


def merges(carrying: Carrying, capfd: pytest.CaptureFixture[str]) -> int:
    """How many git calls of a build without a lock read or merge a change."""
    capfd.readouterr()
    (carrying.root / "series/sample.lock").unlink()
    assert carrying.run("--trace", "build") == 0
    return changes_read(capfd)


def changes_read(capfd: pytest.CaptureFixture[str]) -> int:
    """How many git calls that were traced read or merged a change."""
    said = capfd.readouterr().err.splitlines()
    return sum(line.startswith(("git diff-tree", "git merge-tree")) for line in said)


def kept(carrying: Carrying) -> list[Path]:
    folder = carrying.places.known
    return sorted(path for path in folder.glob("*") if path.is_file())


def poison(carrying: Carrying) -> None:
    """Have every known result say something else, as a result of this very key would."""
    memo = Memo(carrying.places.known)
    for path in kept(carrying):
        told = msgspec.json.decode(memo.read(path.name) or b"")
        told["entry"]["hunks"][0]["cause"] = "poison"
        memo.write(path.name, msgspec.json.encode(told))


def test_a_build_where_nothing_moved_reads_no_change(
    rows: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    before = (rows.root / "series/sample.lock").read_bytes()
    assert merges(rows, capfd) == 0
    assert (rows.root / "series/sample.lock").read_bytes() == before
    shutil.rmtree(rows.places.known)
    assert merges(rows, capfd) > 0
    assert (rows.root / "series/sample.lock").read_bytes() == before


def test_what_proves_or_tells_takes_nothing_from_it(
    rows: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    poison(rows)
    assert b"poison" in rebuilt(rows)
    capfd.readouterr()
    assert rows.run("verify", "--lock") == 5
    assert "poison" in capfd.readouterr().err
    for command in (["report", "--json"], ["show", "sample", ROWS]):
        assert rows.run(*command) == 0
        assert "poison" not in capfd.readouterr().out


def test_an_edit_reads_only_the_change_that_it_adds(
    rows: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    capfd.readouterr()
    assert rows.run("--trace", "add", STAGING) == 0
    of_one = changes_read(capfd)
    shutil.rmtree(rows.places.known)
    assert rows.run("undo") == 0
    capfd.readouterr()
    assert rows.run("--trace", "add", STAGING) == 0
    assert 0 < of_one < changes_read(capfd)
    before = (rows.root / "series/sample.lock").read_bytes()
    assert rebuilt(rows) == before
    assert rows.run("verify", "--lock") == 0


def test_a_store_without_its_objects_is_filled_again(rows: Carrying) -> None:
    before = (rows.root / "series/sample.lock").read_bytes()
    tree = rows.lock.tree
    rows.repository.run("update-ref", "-d", f"refs/trees/{tree}")
    rows.repository.run("prune", "--expire=now")
    assert kept(rows)
    assert rebuilt(rows) == before
    rows.repository.run("fsck", "--connectivity-only", tree)


def test_what_is_damaged_is_made_again(rows: Carrying) -> None:
    before = (rows.root / "series/sample.lock").read_bytes()
    for path in kept(rows):
        path.write_bytes(path.read_bytes()[:-1])
    assert rebuilt(rows) == before


def test_parts_and_what_needs_a_person_are_not_kept(carrying: Carrying) -> None:
    path = "vllm/model_executor/offloader/prefetch.py"
    assert carrying.run("add", f"{BATCH}:{path}") == 0
    rebuilt(carrying)
    assert kept(carrying) == []


def test_another_order_is_another_result(rows: Carrying) -> None:
    text = rows.series.read_text()
    head, first, second = text.split("[[entry]]")
    rows.series.write_text(f"{head}[[entry]]{second.rstrip()}\n\n[[entry]]{first.rstrip()}\n")
    known = set(kept(rows))
    swapped = rebuilt(rows)
    assert len(set(kept(rows)) - known) == 2
    shutil.rmtree(rows.places.known)
    assert rebuilt(rows) == swapped


def test_other_code_of_ours_finds_nothing(
    rows: Carrying, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = makers(rows.repository)
    shutil.copytree(makers_module.PACKAGE, tmp_path / "copy")
    monkeypatch.setattr(makers_module, "PACKAGE", tmp_path / "copy")
    makers.cache_clear()
    assert makers(rows.repository) == ours
    with (tmp_path / "copy/queue/carry.py").open("a") as file:
        file.write("# another\n")
    makers.cache_clear()
    assert makers(rows.repository) != ours
    makers.cache_clear()
