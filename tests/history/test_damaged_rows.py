"""Rows that no lanewright wrote: an error that says so, and what to do."""

import sqlite3
from contextlib import closing

import pytest

from lanewright.__main__ import run
from lanewright.history.database import FILE
from lanewright.places import Places
from tests.history.made import at, lay_night, lay_run, step

Capture = pytest.CaptureFixture[str]
BAD_TEXT = "cast(x'6180' as text)"


@pytest.fixture
def kept(places: Places, capfd: Capture) -> Places:
    """A history of a night and its run."""
    folder = lay_run(places, at(1))
    told = lay_night(places, at(1), [step("boot", run=folder.name), step("status", out="out")])
    (told / "out").write_text('[{"lane": "sample", "pulls": [{"number": 7}], "watched": []}]')
    assert run(["history", "--json", "--runs"]) == 0
    capfd.readouterr()
    return places


def edited(places: Places, statement: str) -> None:
    with closing(sqlite3.connect(places.state / FILE)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = 1")
        connection.execute(statement.replace("BAD_TEXT", BAD_TEXT))


@pytest.mark.parametrize(
    "statement",
    [
        """UPDATE steps SET command = '{"a": 1}'""",
        """UPDATE steps SET command = '["x'""",
        "UPDATE steps SET command = BAD_TEXT",
        "UPDATE steps SET why = BAD_TEXT",
        "UPDATE nights SET project = BAD_TEXT",
        "UPDATE nights SET stamp = BAD_TEXT",
        """UPDATE proofs SET facts = '{"picks": "many"}'""",
        "UPDATE proofs SET facts = 'x'",
        "UPDATE proofs SET text = BAD_TEXT",
        "UPDATE runs SET pin_ref = BAD_TEXT",
        "UPDATE pulls SET told = '{'",
        "ALTER TABLE nights DROP COLUMN project",
    ],
)
@pytest.mark.parametrize("form", [(), ("--json", "--runs")])
def test_a_damaged_row_is_told(
    kept: Places, capfd: Capture, statement: str, form: tuple[str, ...]
) -> None:
    edited(kept, statement)
    code = run(["history", "sample", *form])
    out, err = capfd.readouterr()
    assert code == 1, err
    assert f"{kept.state / FILE} is damaged: " in err
    assert "next: mv " in err
    assert out == ""


@pytest.mark.parametrize("table", ["nights", "runs", "steps", "entries", "pulls"])
def test_a_column_more_is_not_read(kept: Places, capfd: Capture, table: str) -> None:
    edited(kept, f"ALTER TABLE {table} ADD COLUMN more TEXT")
    code = run(["history", "sample", "--runs"])
    assert code == 0, capfd.readouterr().err
