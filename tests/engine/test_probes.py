"""Probes of a machine: on a CUDA GPU their rows are measured; under the interpreter they are open."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.probes.machine import PYTHON, machine
from lanewright.errors import ExitCode

ROOT = Path(__file__).parents[2]
ROWS = {"e1": 9, "e2": 24}


def probed(
    probe: str, folder: Path, python: str, **environ: str
) -> tuple[int, dict[str, Any], str]:
    """Run one; its exit code, record, and what it printed."""
    out = folder / "record.json"
    command = [sys.executable, "-m", "benchmarks.probe", probe, "--blocks", "20", "--out", str(out)]
    whole = {**os.environ, PYTHON: python, "LANEWRIGHT_STATE": str(folder), **environ}
    ran = subprocess.run(command, cwd=ROOT, env=whole, capture_output=True, text=True, check=False)
    return ran.returncode, json.loads(out.read_text()), ran.stdout + ran.stderr


@pytest.mark.engine
@pytest.mark.parametrize("probe", ROWS)
def test_without_a_gpu_it_is_exact_under_the_interpreter_and_open(
    probe: str, tmp_path: Path
) -> None:
    code, told, said = probed(probe, tmp_path, "/nonexistent/python")
    assert code == ExitCode.HARDWARE, said
    assert told["exact"]
    assert told["interpreter"]
    assert told["rows"] == []
    assert "no CUDA device (/nonexistent/python: No such file or directory)" in told["open"][0]
    assert "interpreter: " in said


@pytest.mark.engine
@pytest.mark.parametrize(
    ("probe", "old", "new"),
    [
        ("e1", "torch.bincount(flat + EXPERTS", "torch.bincount(flat * 0 + EXPERTS"),
        ("e2", "rows.sum(dim=1,", "rows[:, 1:].sum(dim=1,"),
    ],
)
def test_what_is_not_exact_is_told_and_no_row_is(
    probe: str, old: str, new: str, tmp_path: Path
) -> None:
    # The probe in a folder of its own, with another idea of what is right.
    copy = tmp_path / "project"
    copy.mkdir()
    for each in ROOT.iterdir():
        if each.name != "benchmarks":
            (copy / each.name).symlink_to(each)
    subprocess.run(["cp", "-r", str(ROOT / "benchmarks"), str(copy)], check=True)
    script = (
        copy / "benchmarks" / "inside" / {"e1": "probe_counter.py", "e2": "probe_reads.py"}[probe]
    )
    text = script.read_text()
    assert text.count(old) == 1
    script.write_text(text.replace(old, new))
    out = tmp_path / "record.json"
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.probe", probe, "--out", str(out)],
        cwd=copy,
        env={**os.environ, PYTHON: "/nonexistent/python", "PYTHONPATH": f"{copy}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == ExitCode.MISMATCH, ran.stdout + ran.stderr
    told = json.loads(out.read_text())
    assert not told["exact"]
    assert told["rows"] == []
    assert "NOT EXACT: " in ran.stderr


@pytest.mark.gpu
@pytest.mark.parametrize("probe", ROWS)
def test_on_a_gpu_every_row_is_measured(probe: str, tmp_path: Path) -> None:
    found = machine()
    if found.missing:
        pytest.skip(f"no CUDA device: {found.missing}")
    code, told, said = probed(probe, tmp_path, found.python)
    assert code == ExitCode.CLEAN, said
    assert told["exact"]
    assert len(told["rows"]) == ROWS[probe]
    assert told["device"] == found.device
