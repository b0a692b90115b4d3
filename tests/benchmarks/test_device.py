"""What the device's benchmark tells; it is measured by ``nox -s bench -- device`` on a CUDA GPU."""

import sys
from pathlib import Path

import pytest

from benchmarks import device
from lanewright.errors import ExitCode


def test_no_device_is_told_and_ends_with_the_hardwares_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'RuntimeError: No CUDA GPUs are available' >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setenv(device.PYTHON, str(python))
    monkeypatch.setattr(sys, "argv", ["device"])
    assert device.main() == int(ExitCode.HARDWARE)
    told = capsys.readouterr()
    assert told.err.startswith("no CUDA device: RuntimeError: No CUDA GPUs are available\n")
    assert device.PYTHON in told.err
    assert not told.out


def test_a_copys_share_is_the_plain_copys_time_over_ours() -> None:
    line = device.copied(
        {
            "rows": 8,
            "way": "to the device",
            "bytes": 4 * 2**20,
            "ours": [2.0, 4.0, 4.0],
            "plain": [1.8, 3.6, 3.8],
        }
    )
    assert line.startswith("   8 rows to the device, 4.0 MiB: 1.0 [")
    assert "] GB/s, 0.900 [0.900, 0.950] of a plain pinned copy" in line


def test_a_batch_is_told_as_a_share_of_a_loops_time() -> None:
    each = {"rows": 1, "way": "to the host", "bytes": 2**20, "ours": [1.0] * 3, "plain": [1.0] * 3}
    each["loop"] = [2.0, 4.0, 4.0]
    assert device.copied(each).endswith("; no batch: this Python has no vLLM")
    each["batched"] = [1.0, 2.0, 1.0]
    assert device.copied(each).endswith("; a batch takes 0.500 [0.250, 0.500] of a loop's time")


def test_counting_is_what_counted_launches_take_beyond_those_that_map() -> None:
    line = device.counted(
        {
            "tokens": 6,
            "picks": 36,
            "layers": 40,
            "counted": [0.120, 0.120, 0.120],
            "mapped": [0.100, 0.0998, 0.1002],
        }
    )
    assert "split and count 120.0 [120.0, 120.0] us a step of 40 layers, 3.00 us a layer" in line
    assert "counting adds 20.0 [19.8, 20.2] us, 0.14 % of 14.6 ms" in line
