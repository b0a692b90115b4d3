"""Nights of real vLLM: a wrong hunk is found and named, and one that is killed comes to the same."""

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from lanewright.places import Places
from tests.engine.conftest import Lane
from tests.engine.test_equality import MODEL, plant, rows
from tests.process import start

RIGHT = (
    "class Qwen3MoeMLP(nn.Module):\n",
    "# Nothing is other by this.\nclass Qwen3MoeMLP(nn.Module):\n",
)
WRONG = ("else final_hidden_states\n", "else -final_hidden_states\n")
LESS = """[equality]
prompts = 12
tokens = 16
distinct = 60
modes = ["eager"]

"""
PASSED = ("report", "build", "status", "boot")
SECONDS = 600.0


@pytest.fixture
def short(lane: Lane) -> Lane:
    """The lane without an image, and with less to compare."""
    head, _, rest = lane.series.read_text().partition("[image]\n")
    _, entry, rest = rest.partition("[[entry]]\n")
    lane.series.write_text(f"{head}{LESS}{entry}{rest}")
    return lane


def night() -> tuple[Path, dict[str, Any]]:
    """The newest night, and its folder."""
    folder = max(Places.of_user().state.glob("nights/*/night.json")).parent
    return folder, json.loads((folder / "night.json").read_text())


def steps(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By name, those of a night with one lane."""
    return {step["name"]: step for step in found["steps"]}


@pytest.mark.engine_full
def test_a_wrong_hunk_is_named(short: Lane, tmp_path: Path) -> None:
    """Of an own patch with two, of which one changes nothing."""
    plant(short, tmp_path / "planted", RIGHT, WRONG)
    assert short.run("nightly", short.name) == 5
    folder, found = night()
    of = steps(found)
    assert [of[name]["verdict"] for name in PASSED] == ["passed", "passed", "passed", "failed"]
    assert of["bisect"]["verdict"] == "passed"
    (part,) = json.loads((folder / of["bisect"]["out"]).read_text())["parts"]
    (hunk,) = part["hunks"]
    assert hunk["path"] == MODEL
    assert part["part"] == f"planted:{MODEL}:{hunk['id']}"
    (text,) = part["texts"]
    assert WRONG[1].strip() in text
    assert RIGHT[1].strip() not in text
    assert part["part"] in of["bisect"]["why"]
    assert f"lanewright drop {part['part']}" in of["bisect"]["why"]
    pages = Places.of_user().state / "page"
    of_lane = f"nights/{folder.name}/lane-{short.name}.html"
    index = (pages / "index.html").read_text()
    assert part["part"] in index
    assert of_lane in index
    assert part["part"] in (pages / of_lane).read_text()


@pytest.mark.engine_full
def test_killed_and_resumed_it_comes_to_what_an_undisturbed_one_does(short: Lane) -> None:
    assert short.run("nightly", short.name) == 0
    _, undisturbed = night()
    process = start(short.root, "nightly", short.name)
    state = Places.of_user().state
    pattern = f"runs/{short.name}/*/equality/pin.eager.baseline.finished.json"
    earlier = {*state.glob(pattern)}
    deadline = time.monotonic() + SECONDS
    while {*state.glob(pattern)} == earlier:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    _, killed = night()
    assert (killed["finished"], steps(killed)["boot"]["verdict"]) == (None, "pending")
    assert short.run("nightly", "--resume", short.name) == 0
    _, resumed = night()
    assert resumed["name"] == killed["name"]
    assert lasting(resumed) == lasting(undisturbed)
    # What ends with a night that is killed writes down that it was interrupted.
    one, other = [each for each in short.records() if each["verdict"] == "passed"]
    assert "eager.baseline" in other["equality"]["resumed"]
    assert rows(one) == rows(other)
    assert one["equality"]["verdict"] == other["equality"]["verdict"] == "equal"
    assert proofs(one) == proofs(other)


def lasting(found: dict[str, Any]) -> list[tuple[str, str, int | None, list[str]]]:
    """What a night's steps came to."""
    return [(s["name"], s["verdict"], s["exit_code"], s["command"]) for s in found["steps"]]


def proofs(record: dict[str, Any]) -> dict[str, Any]:
    """What was proven in each arm of a comparison."""
    return {
        arm: [(each["feature"], each["on"]) for each in found]
        for arm, found in record["equality"]["proofs"].items()
    }
