"""``lanewright residency trace``: import, show, check."""

import json
from pathlib import Path

import numpy as np
import pytest

from lanewright.residency.trace import counted
from lanewright.residency.trace_file.reading import read_trace
from lanewright.residency.trace_file.writing import write_trace
from lanewright.serve.usage import write_usage
from tests.conftest import World
from tests.residency import requests, traffic

Capture = pytest.CaptureFixture[str]
IDS = traffic.matched(40, 3, 16, 2)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    file = tmp_path / "trace.parquet"
    write_trace(file, requests.weighted(requests.recorded(IDS, 16)))
    return file


def usage(tmp_path: Path, ids: np.ndarray, model: str = "hash") -> Path:
    worker = {
        "layers": [f"layers.{layer}.mlp" for layer in range(3)],
        "picks_per_token": 2,
        "tokens": len(ids),
        "counts": counted(ids, 16).tolist(),
    }
    written = write_usage(tmp_path / "usage.parquet", [worker], model=model)
    assert written
    return written


def test_files_become_a_trace_that_is_shown(world: World, tmp_path: Path, capfd: Capture) -> None:
    np.save(tmp_path / "a.npy", IDS[:25])
    np.save(tmp_path / "b.npy", IDS[25:])
    out = tmp_path / "out.parquet"
    files = [str(tmp_path / name) for name in ("a.npy", "b.npy")]
    words = ("--out", str(out), "--prompt", "10", "--experts", "16", "--model", "hash")
    assert world.run("residency", "trace", "import", *files, *words) == 0
    said = capfd.readouterr().out.splitlines()
    assert said[-1] == str(out)
    assert (read_trace(out).ids == IDS).all()
    assert world.run("residency", "trace", "show", str(out), "--json") == 0
    told = json.loads(capfd.readouterr().out)
    assert told["phases"] == {"prefill": 20, "decode": 20, "verify": 0}
    assert (told["requests"], told["picks"], told["weights"]) == (2, IDS.size, False)
    assert world.run("residency", "trace", "show", str(out)) == 0
    assert capfd.readouterr().out.splitlines() == said[:-1]


def test_what_is_wrong_leaves_the_old_trace(
    world: World, trace: Path, tmp_path: Path, capfd: Capture
) -> None:
    before = trace.read_bytes()
    np.save(tmp_path / "a.npy", IDS[:, :, :0])
    words = (str(tmp_path / "a.npy"), "--out", str(trace))
    assert world.run("residency", "trace", "import", *words) == 1
    assert str(tmp_path / "a.npy") in capfd.readouterr().err
    assert trace.read_bytes() == before
    assert world.run("residency", "trace", "import", str(trace), "--out", str(trace)) == 1
    assert "it is one of the files that are read" in capfd.readouterr().err


def test_a_trace_that_is_exact(world: World, trace: Path, tmp_path: Path, capfd: Capture) -> None:
    beside = ("--usage", str(usage(tmp_path, IDS)), "--scheduled", "40")
    assert world.run("residency", "trace", "check", str(trace), *beside) == 0
    assert "40 tokens, 240 picks: exact, beside 40 scheduled tokens and" in capfd.readouterr().out
    assert world.run("residency", "trace", "check", str(trace), "--json") == 0
    assert json.loads(capfd.readouterr().out)["against"]["usage"] is None


def test_a_pick_that_is_missing_is_named(
    world: World, trace: Path, tmp_path: Path, capfd: Capture
) -> None:
    other = IDS.copy()
    free = next(each for each in range(16) if each not in other[7, 1])
    other[7, 1, 0] = free
    beside = ("--usage", str(usage(tmp_path, other)))
    assert world.run("residency", "trace", "check", str(trace), *beside) == 5
    assert "layer layers.1.mlp: expert" in capfd.readouterr().err
    assert world.run("residency", "trace", "check", str(trace), "--scheduled", "41") == 5
    assert "41 tokens of 2 are 82" in capfd.readouterr().err
    beside = ("--usage", str(usage(tmp_path, IDS, model="other")))
    assert world.run("residency", "trace", "check", str(trace), *beside) == 1
    assert "is of another model than the trace" in capfd.readouterr().err
