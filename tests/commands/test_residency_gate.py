"""``lanewright residency gate``: from files, with no trust in them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lanewright.residency.trace_file.writing import write_trace
from tests.conftest import World
from tests.residency import requests, traffic

Capture = pytest.CaptureFixture[str]
SCORES: dict[str, Any] = {
    "schema": 1,
    "model": "hash",
    "tokens": 10,
    "picks_per_token": 2,
    "guessers": [
        {
            "guesser": "head",
            "missing": None,
            "copies": True,
            "lead_seconds": 0.001,
            "wide": [{"names": 2, "recall": 0.9, "recall_error": 0.01}],
        }
    ],
}


@pytest.fixture
def replay(world: World, tmp_path: Path, capfd: Capture) -> Path:
    """What a replay told, of a trace with most of its picks cold."""
    ids = traffic.uniform(400, 3, 16, 2)
    found = requests.recorded(ids, 16, request=np.arange(400) // 20, position=np.arange(400) % 20)
    write_trace(tmp_path / "trace.parquet", found)
    trace = str(tmp_path / "trace.parquet")
    words = ("--hot", "6", "--row", "4MiB", "--policy", "fixed,following")
    assert world.run("residency", "replay", trace, *words, "--json") == 0
    file = tmp_path / "replay.json"
    file.write_text(capfd.readouterr().out)
    return file


def scores(tmp_path: Path, **more: Any) -> Path:  # noqa: ANN401 - JSON
    file = tmp_path / "guess.json"
    file.write_text(json.dumps(SCORES | more))
    return file


def state(world: World, text: str) -> None:
    """Say what is known of the pull request."""
    folder = world.root / "patches" / "56177"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pr.toml").write_text(
        f'number = 56177\nbrings = "rows"\nstate = "{text}"\nstate_seen = 2026-11-01\n'
        '[sources]\nbrings = "its page"\nstate = "its page"\nstate_seen = "its page"\n'
    )


def test_all_three_open_it(world: World, replay: Path, tmp_path: Path, capfd: Capture) -> None:
    state(world, "merged")
    files = ("--replay", str(replay), "--guess", str(scores(tmp_path)))
    assert world.run("residency", "gate", *files) == 0
    said = capfd.readouterr().out.splitlines()
    assert said[0].startswith("cold after a good map: met: ")
    assert said[1] == ("recall of a guesser: met: 90.00% +- 1.00% with 2 names by head, 85% needed")
    assert said[2] == ("residency by expert upstream: met: #56177 is merged, seen on 2026-11-01")
    assert said[3].startswith("open: ")
    assert world.run("residency", "gate", *files, "--json") == 0
    told = json.loads(capfd.readouterr().out)
    assert told["verdict"] == "open"
    assert [each["met"] for each in told["conditions"]] == [True, True, True]
    assert told["conditions"][0]["number"] > 0.5


def test_one_that_is_not_met_closes_it_and_says_what_would_change_it(
    world: World, replay: Path, tmp_path: Path, capfd: Capture
) -> None:
    state(world, "open")
    files = ("--replay", str(replay), "--guess", str(scores(tmp_path)))
    assert world.run("residency", "gate", *files) == 0
    said = capfd.readouterr().out.splitlines()
    assert said[-2] == "  to change it: #56177 would have to be merged"
    assert said[-1].startswith("closed: ")


def test_with_no_files_nothing_is_known(world: World, capfd: Capture) -> None:
    assert world.run("residency", "gate", "--json") == 0
    told = json.loads(capfd.readouterr().out)
    assert told["verdict"] == "unknown"
    assert [each["met"] for each in told["conditions"]] == [None, None, None]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{", "is not what residency guess prints"),
        (b"\xff", "is not what residency guess prints"),
        (json.dumps(SCORES | {"schema": 2}).encode(), "schema"),
        (json.dumps(SCORES | {"tokens": 0}).encode(), "tokens"),
        (
            json.dumps(
                SCORES
                | {
                    "guessers": [
                        {"guesser": "head", "copies": True, "wide": [{"names": 2, "recall": 1.5}]}
                    ]
                }
            ).encode(),
            "recall",
        ),
    ],
)
def test_what_is_no_scoreboard_is_refused(
    world: World, tmp_path: Path, capfd: Capture, content: bytes, why: str
) -> None:
    file = tmp_path / "guess.json"
    file.write_bytes(content)
    assert world.run("residency", "gate", "--guess", str(file)) == 1
    said = capfd.readouterr().err
    assert str(file) in said
    assert why in said
    assert "lanewright residency guess --json > FILE" in said


def test_files_of_two_models_are_refused(
    world: World, replay: Path, tmp_path: Path, capfd: Capture
) -> None:
    other = scores(tmp_path, model="other")
    assert world.run("residency", "gate", "--replay", str(replay), "--guess", str(other)) == 1
    assert "is of another model than" in capfd.readouterr().err
    assert world.run("residency", "gate", "--replay", str(tmp_path / "none")) == 1
    assert "there is no such file" in capfd.readouterr().err
