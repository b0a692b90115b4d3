"""What a night's report and its look at upstream say in numbers, and keep when they are gone."""

import hashlib
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from lanewright.__main__ import run
from lanewright.history import database
from lanewright.history.migrations import MIGRATIONS, migrate
from lanewright.history.on_disk import OnDisk
from lanewright.places import Places
from lanewright.store.git import Repository, create
from tests.history.made import at, lay_night, step

Capture = pytest.CaptureFixture[str]


def entry(standing: str, *outcomes: str) -> dict[str, Any]:
    """Of a report, by what its hunks came to."""
    opened = {"conflict": {"open": True}}
    hunks = [{"id": "0", "outcome": word, **opened.get(word, {})} for word in outcomes]
    return {"name": "x", "standing": standing, "files": [{"path": "a.py", "hunks": hunks}]}


def printed(places: Places, day: int, name: str, text: str, verdict: str = "passed") -> Path:
    """A night one step of which printed something; its folder."""
    folder = lay_night(places, at(day), [step(name, verdict, out="1.out")])
    (folder / "1.out").write_text(text)
    return folder


def numbers(capfd: Capture) -> list[tuple[int | None, int | None]]:
    """Of the newest night first: conflicts, commits behind."""
    capfd.readouterr()
    assert run(["history", "--json"]) == 0
    nights = json.loads(capfd.readouterr().out)["nights"]
    return [(each["conflicts"], each["commits_behind"]) for n in nights for each in n["lanes"]]


def test_conflicts_are_the_open_hunks_of_what_is_carried(places: Places, capfd: Capture) -> None:
    entries = [
        entry("carried", "conflict", "clean"),
        entry("carried", "conflict"),
        entry("watched", "conflict"),
    ]
    folder = printed(places, 1, "report", json.dumps({"entries": entries}), "conflicts")
    printed(places, 2, "report", json.dumps({"entries": []}))
    printed(places, 3, "report", "lanewright: no such lane", "failed")
    printed(places, 4, "report", json.dumps({"entries": entries}), "left out")
    assert numbers(capfd) == [(None, None), (None, None), (0, None), (2, None)]
    assert run(["history", "sample", "--nights", "4"]) == 0
    assert "  2 hunks in conflict\n" in capfd.readouterr().out
    # What it came to stays.
    shutil.rmtree(folder)
    assert numbers(capfd)[-1] == (2, None)


def test_outcomes_are_kept_of_a_night_that_booted_nothing(places: Places, capfd: Capture) -> None:
    first, second = (
        {"entries": [{**entry("carried", *words), "kind": "patch"}, entry("watched", "conflict")]}
        for words in (("clean", "clean", "merged"), ("clean", "conflict", "merged"))
    )
    folder = printed(places, 1, "report", json.dumps(first))
    printed(places, 2, "report", json.dumps(second), "conflicts")
    assert run(["history", "sample"]) == 0
    said = capfd.readouterr().out
    assert "  patch x: 1 clean, 1 conflict, 1 merged\n" in said
    assert ": entry x: 2 clean, 1 merged -> 1 clean, 1 conflict, 1 merged\n" in said
    shutil.rmtree(folder)
    assert run(["history", "--json"]) == 0
    nights = json.loads(capfd.readouterr().out)["nights"]
    assert [lane["reported"] for night in nights for lane in night["lanes"]] == [
        [{"name": "x", "kind": "patch", "hunks": {"clean": 1, "conflict": 1, "merged": 1}}],
        [{"name": "x", "kind": "patch", "hunks": {"clean": 2, "merged": 1}}],
    ]


def test_commits_are_counted_where_the_store_has_both(places: Places, capfd: Capture) -> None:
    commits = a_line_of_commits(places)
    ends = [(commits[0], commits[3]), (commits[1], commits[1]), (commits[0], "a" * 40)]
    for day, (here, there) in enumerate(ends, 1):
        text = f"lane sample: git:{here} -> git:{there}\n  hook\n"
        printed(places, day, "drift", text, "drift")
    printed(places, 4, "drift", "lane sample: release:1.1 -> release:1.2\n", "drift")
    assert numbers(capfd) == [(None, None), (None, None), (None, 0), (None, 3)]


def test_no_store_counts_nothing(places: Places, capfd: Capture) -> None:
    printed(places, 1, "drift", f"lane sample: git:{'a' * 40} -> git:{'b' * 40}\n", "drift")
    assert numbers(capfd) == [(None, None)]


def test_a_link_is_not_followed(places: Places, capfd: Capture, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(json.dumps({"entries": [entry("carried", "conflict")]}))
    folder = lay_night(places, at(1), [step("report", out="../../x")])
    (folder / "x").symlink_to(tmp_path / "x")
    assert run(["history", "--json"]) == 0
    assert f"{folder / 'x'} is passed over" in capfd.readouterr().err
    assert numbers(capfd) == [(None, None)]


def test_a_history_of_the_first_form_has_them_of_what_is_on_disk(
    places: Places, capfd: Capture
) -> None:
    text = json.dumps({"entries": [entry("carried", "conflict")]})
    folder = printed(places, 2, "report", text, "conflicts")
    file = places.state / database.FILE
    connection = sqlite3.connect(file, isolation_level=None)
    migrate(connection, file, MIGRATIONS[:1])
    digest = hashlib.sha256((folder / "night.json").read_bytes()).hexdigest()
    for name, pruned, stamp in (
        ("20261101T020000Z", "2026-12-01T00:00:00Z", "1-2-3"),
        (folder.name, None, OnDisk(folder).stamp()),
    ):
        night = (name, "2026-11-01T02:00:00Z", None, "0.1.0", "/x", None, pruned, stamp, digest)
        connection.execute("INSERT INTO nights VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", night)
        connection.execute("INSERT INTO night_lanes VALUES (?, 0, 'sample', NULL)", (name,))
    connection.close()
    assert numbers(capfd) == [(1, None), (None, None)]


def a_line_of_commits(places: Places, many: int = 4) -> list[str]:
    create(places.objects)
    repository = Repository(places.objects)

    def put(kind: str, text: str) -> str:
        words = ("hash-object", "-t", kind, "-w", "--stdin")
        return repository.run(*words, stdin=text.encode()).stdout.decode().strip()

    tree = put("tree", "")
    commits: list[str] = []
    for number in range(many):
        parent = f"parent {commits[-1]}\n" if commits else ""
        who = f"a <a@b> {number} +0000"
        commits.append(put("commit", f"tree {tree}\n{parent}author {who}\ncommitter {who}\n\nx\n"))
    return commits
