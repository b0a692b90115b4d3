"""``lanewright residency guess``: guessers on a recorded trace."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lanewright.cli_guess import GUESSERS as TYPED
from lanewright.residency.guess.guessers import GUESSERS
from lanewright.residency.trace_file.recorded import DECODE, PREFILL
from lanewright.residency.trace_file.writing import write_trace
from tests.conftest import World
from tests.residency import requests, traffic

Capture = pytest.CaptureFixture[str]
Guess = Callable[..., str]
MIB = 2**20
PLACE = np.arange(800) % 20
FOUND = requests.recorded(
    traffic.matched(800, 3, 16, 2),
    16,
    forward=np.arange(800) // 20 * 16 + np.maximum(0, PLACE - 4),
    request=np.arange(800) // 20,
    position=PLACE,
    phase=np.where(PLACE < 5, PREFILL, DECODE).astype(np.uint8),
)
SIZES = ("--hot", "6,5,4", "--row", "4MiB")


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    file = tmp_path / "trace.parquet"
    write_trace(file, FOUND)
    return file


@pytest.fixture
def guessed(world: World, trace: Path, capfd: Capture) -> Guess:
    """Run it on a trace; what it printed, and on an exit code what it said."""

    def asked(*arguments: str, code: int = 0) -> str:
        assert world.run("residency", "guess", str(trace), *arguments) == code
        found = capfd.readouterr()
        return found.err if code else found.out

    return asked


def told_of(guessed: Guess, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(guessed(*SIZES, *arguments, "--json"))
    return found


def test_the_command_line_has_all_guessers() -> None:
    assert tuple(GUESSERS) == TYPED


def test_every_guesser_is_told(guessed: Guess) -> None:
    found = told_of(guessed)
    rows = {each["guesser"]: each for each in found["guessers"]}
    assert list(rows) == [*GUESSERS]
    assert {key: found[key] for key in ("tokens", "forwards", "requests", "phase", "rows")} == {
        "tokens": 450,
        "forwards": 450,
        "requests": 30,
        "phase": "decode",
        "rows": [6, 5, 4],
    }
    assert (found["learned_tokens"], found["learned_requests"]) == (200, 10)
    assert rows["head"]["missing"].startswith("the trace has no hidden states")
    assert rows["draft"]["missing"].startswith("none in this trace")
    for name, each in rows.items():
        if each["missing"]:
            assert "wide" not in each
            continue
        assert [wide["names"] for wide in each["wide"]] == [2, 4, 6]
        recalls = [wide["recall"] for wide in each["wide"]]
        assert 0 <= recalls[0] <= recalls[1] <= recalls[2] <= 1, name
        for wide in each["wide"]:
            assert wide["recall_error"] > 0 or name == "control"
            if each["copies"]:
                assert wide["copied_bytes"] == wide["useful_bytes"] + wide["wasted_bytes"]
                assert wide["copied_bytes"] % (4 * MIB) == 0
    assert [wide["recall"] for wide in rows["control"]["wide"]] == [1, 1, 1]
    # Skewed traffic: what is picked often is a guess, and what is at random none.
    assert rows["global"]["wide"][0]["recall"] > 2 * rows["random"]["wide"][0]["recall"]
    assert rows["hindsight-cache"]["wide"][2]["recall"] >= rows["global"]["wide"][2]["recall"]
    # And all of it is resident already.
    assert rows["global"]["wide"][0]["cold_recall"] == 0.0


def test_leads_and_what_is_in_time(guessed: Guess) -> None:
    found = told_of(guessed, "--step", "3", "--attention", "0.4", "--link", "1,400")
    assert found["layer_seconds"] == pytest.approx(0.001)
    assert [each["row_seconds"] for each in found["links"]] == [
        pytest.approx(4 * MIB / 1e9),
        pytest.approx(4 * MIB / 400e9),
    ]
    rows = {each["guesser"]: each for each in found["guessers"]}
    leads = {name: each["lead_seconds"] for name, each in rows.items()}
    assert leads["control"] == 0
    # An EAM is matched once the forward before is through, which leaves the first layer its attention.
    assert leads["head"] == leads["eam"] == pytest.approx(0.0004)
    assert leads["previous-layer"] == leads["layer-table"] == pytest.approx(0.001)
    assert leads["previous-step"] == leads["request"] == leads["draft"] == 0.003
    assert leads["global"] is leads["random"] is leads["lru-cache"] is None
    assert rows["control"]["wide"][0]["in_time"] == {"1": 0, "400": 0}
    # 4.2 ms for a row at 1 GB/s: neither a layer nor a forward of 3 ms is so long.
    for name in ("previous-layer", "previous-step"):
        assert rows[name]["wide"][0]["in_time"] == {"1": 0, "400": 1}


def test_prefill_apart(guessed: Guess) -> None:
    found = told_of(guessed, "--phase", "prefill", "--guesser", "previous-step,previous-layer")
    assert (found["phase"], found["tokens"], found["forwards"]) == ("prefill", 150, 30)
    control, layer, step = found["guessers"]
    assert (control["guesser"], layer["guesser"], step["guesser"]) == (
        "control",
        "previous-layer",
        "previous-step",
    )
    # A prompt is one forward here, and has none before it.
    assert (step["guessed"], layer["guessed"]) == (0, pytest.approx(2 / 3))
    assert step["recall_where_guessed"] is None
    assert step["wide"][0]["precision"] is None


def test_lines_for_people(guessed: Guess) -> None:
    text = guessed(*SIZES, "--guesser", "draft,global,lru-cache,request")
    lines = text.splitlines()
    assert lines[0] == (
        "450 tokens of decode in 450 forwards of 30 requests; learned from 200 tokens of 10 others"
    )
    assert "3 layers of 16 experts, 2 a token, 4.00 MiB each; 15 rows are resident" in lines[1]
    heads = [line.split() for line in lines if line.startswith("guesser")]
    assert heads[0][:4] == ["guesser", "guessed", "@2", "+-"]
    assert heads[1][-6:] == ["24", "GB/s", "32", "GB/s", "340", "GB/s"]
    assert "(chance)" in text
    assert any(line.split()[:4] == ["control", "100.00%", "100.00%", "0.00%"] for line in lines)
    assert any(line.split() == ["lru-cache", "held", "already"] for line in lines)
    assert lines[-1].startswith("draft: not here: none in this trace")


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_plot(guessed: Guess, tmp_path: Path, kind: str) -> None:
    files = [tmp_path / f"{name}.{kind}" for name in ("one", "two")]
    for file in files:
        guessed(*SIZES, "--plot", str(file))
    one, two = (file.read_bytes() for file in files)
    assert one == two
    if kind == "svg":
        text = one.decode()
        for name in ("previous-layer", "layer-table", "eam", "lru-cache", "a row at 340 GB/s"):
            assert name in text
        assert "draft" not in text
    else:
        assert one.startswith(b"\x89PNG\r\n")


def test_a_plot_of_no_kind_is_refused_before_anything(guessed: Guess, tmp_path: Path) -> None:
    said = guessed(*SIZES, "--plot", str(tmp_path / "plot.gif"), code=1)
    assert "plot.gif: a plot is a .png or a .svg" in said
    assert "control ..." not in said
    said = guessed(*SIZES, "--plot", str(tmp_path / "none" / "plot.png"), code=1)
    assert "cannot write" in said


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--hot", "17", "--row", "4MiB"), 1, "--hot"),
        (("--hot", "4", "--row", "much"), 1, "--row 'much' is no size"),
        ((*SIZES, "--learn", "0"), 1, "nothing can be held out"),
        ((*SIZES, "--learn", "1"), 1, "give another --learn"),
    ],
)
def test_what_does_not_go_with_the_trace(
    guessed: Guess, arguments: tuple[str, ...], code: int, said: str
) -> None:
    assert said in guessed(*arguments, code=code)


def test_a_name_that_there_is_not(world: World, trace: Path, capfd: Capture) -> None:
    with pytest.raises(SystemExit) as ended:
        world.run("residency", "guess", str(trace), *SIZES, "--guesser", "oracle")
    assert ended.value.code == 2
    assert "there is no 'oracle': there are control, random" in capfd.readouterr().err


def test_no_token_of_the_phase(world: World, tmp_path: Path, capfd: Capture) -> None:
    file = tmp_path / "decode.parquet"
    write_trace(file, requests.recorded(FOUND.ids, 16, request=np.arange(800) // 20))
    assert world.run("residency", "guess", str(file), *SIZES, "--phase", "prefill") == 1
    assert "no token of prefill is left to guess at" in capfd.readouterr().err
    one = tmp_path / "one.parquet"
    write_trace(one, requests.recorded(FOUND.ids, 16))
    assert world.run("residency", "guess", str(one), *SIZES) == 1
    assert "1 requests, and one is needed on each side" in capfd.readouterr().err


def test_where_no_lane_s_python_is_the_row_says_so(
    world: World, tmp_path: Path, capfd: Capture
) -> None:
    file = tmp_path / "hidden.parquet"
    write_trace(file, requests.with_hidden(FOUND, 4))
    for list_of in (world.project.environments).glob("*.txt"):
        list_of.unlink()
    assert world.run("residency", "guess", str(file), *SIZES, "--guesser", "head", "--json") == 0
    control, head = json.loads(capfd.readouterr().out)["guessers"]
    assert control["missing"] is None
    assert "runs in its image alone" in head["missing"]
