"""The history's file: made, brought to another form, refused."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from lanewright.__main__ import run
from lanewright.errors import LanewrightError
from lanewright.history import database
from lanewright.history.migrations import MIGRATIONS, migrate
from lanewright.history.taking_in import take_in
from lanewright.places import Places
from tests.history.made import at, held_rows, lay_night, lay_run, step

Capture = pytest.CaptureFixture[str]
LATER = (
    *MIGRATIONS,
    ("ALTER TABLE nights ADD COLUMN mood TEXT", "UPDATE nights SET mood = 'calm'"),
)
OPENING = """\
import sys, time
from pathlib import Path
from lanewright.history.database import opened
from lanewright.places import Places
state = Path(sys.argv[1])
while not (state / "go").exists():
    time.sleep(0.001)
with opened(Places(state, state)) as connection:
    print(connection.execute("PRAGMA user_version").fetchone()[0])
"""


def connected(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(file, isolation_level=None)


@pytest.fixture
def file(places: Places) -> Path:
    places.state.mkdir()
    return places.state / database.FILE


def test_an_empty_file_is_filled(places: Places, file: Path) -> None:
    file.touch()
    lay_run(places, at(1))
    assert take_in(places) == 1
    connection = connected(file)
    assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_an_older_form_keeps_its_rows(places: Places, file: Path) -> None:
    lay_night(places, at(1), [step("boot")])
    take_in(places)
    connection = connected(file)
    migrate(connection, file, LATER)
    assert connection.execute("SELECT mood FROM nights").fetchall() == [("calm",)]
    migrate(connection, file, LATER)
    connection.close()


def test_a_migration_that_fails_changes_nothing(places: Places, file: Path) -> None:
    lay_night(places, at(1), [step("boot")])
    take_in(places)
    before = held_rows(places)
    connection = connected(file)
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, file, (*MIGRATIONS, ("DELETE FROM nights", "no SQL")))
    connection.close()
    assert held_rows(places) == before
    assert take_in(places) == 0


def test_several_processes_open_an_empty_file_at_once(places: Places, file: Path) -> None:
    command = [sys.executable, "-c", OPENING, str(places.state)]
    opening = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(5)
    ]
    (places.state / "go").touch()
    ended = [process.communicate(timeout=120) for process in opening]
    assert ended == [(f"{len(MIGRATIONS)}\n", "")] * 5
    assert file.exists()
    assert not any(held_rows(places).values())


def test_a_later_lanewrights_is_refused(places: Places, file: Path, capfd: Capture) -> None:
    connection = connected(file)
    migrate(connection, file, LATER)
    connection.close()
    before = file.read_bytes()
    assert run(["history"]) == 1
    said = capfd.readouterr().err
    assert f"{file} is of a later lanewright" in said
    assert "next: install that lanewright again" in said
    assert file.read_bytes() == before
    assert places.state.exists()


@pytest.mark.parametrize("content", [b"no database at all, " * 100, b"x"])
def test_what_is_no_database_is_refused_until_it_is_moved_away(
    places: Places, file: Path, capfd: Capture, content: bytes
) -> None:
    lay_run(places, at(1))
    file.write_bytes(content)
    assert run(["history", "--runs"]) == 1
    said = capfd.readouterr().err
    assert f"{file} is no database" in said
    [command] = [line.partition("next: ")[2].partition(",")[0] for line in said.splitlines()[1:]]
    assert command.startswith("mv ")
    assert file.read_bytes() == content
    subprocess.run(["sh", "-c", command], check=True)
    assert run(["history", "--runs"]) == 0
    assert "sample/20261101T020000Z" in capfd.readouterr().out


def test_another_programs_database_is_refused(file: Path, capfd: Capture) -> None:
    connection = connected(file)
    connection.execute("CREATE TABLE mine (word TEXT)")
    connection.close()
    before = file.read_bytes()
    assert run(["history"]) == 1
    assert "is a database of another program" in capfd.readouterr().err
    assert file.read_bytes() == before


def test_a_damaged_one_is_refused(places: Places, file: Path, capfd: Capture) -> None:
    for day in range(1, 28):
        lay_run(places, at(day))
    take_in(places)
    content = bytearray(file.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    file.write_bytes(content)
    assert run(["history", "--runs"]) == 1
    said = capfd.readouterr().err
    assert f"{file} is damaged" in said
    assert "next: mv " in said
    assert file.read_bytes() == content


def test_a_folder_in_its_place_is_told(file: Path, capfd: Capture) -> None:
    file.mkdir()
    assert run(["history"]) == 1
    assert f"{file} cannot be read and written" in capfd.readouterr().err


def test_a_state_that_is_a_file_is_told(places: Places, capfd: Capture) -> None:
    places.state.write_text("a file")
    assert run(["history"]) == 1
    assert str(places.state) in capfd.readouterr().err


def test_one_that_another_holds_is_told(
    places: Places, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_in(places)
    lay_run(places, at(1))
    monkeypatch.setattr(database, "BUSY", 0.05)
    holder = connected(file)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(LanewrightError, match="is held by another process"):
        take_in(places)
    holder.execute("ROLLBACK")
    holder.close()
    assert take_in(places) == 1


def test_on_a_file_system_of_several_hosts_there_is_no_write_ahead_log(
    places: Places, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_in(places)
    monkeypatch.setattr(database, "file_system", lambda _: 0x6969)
    take_in(places)
    connection = connected(file)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    connection.close()
