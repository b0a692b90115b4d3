"""What a probe tells of its times, and the record that it keeps."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.probes import counter, reads
from benchmarks.probes.machine import Machine
from benchmarks.probes.record import keep, record
from lanewright.errors import LanewrightError

COUNTED: dict[str, Any] = {
    "tokens": 6,
    "picks": 36,
    "kind": "zipf",
    "layers": 40,
    "mapped": [0.0575] * 9,
    "counted": [0.0779] * 9,
    "again": [0.0575] * 9,
}
READ: dict[str, Any] = {
    "rows": 2,
    "bytes": 40_000_000,
    "repeats": 4,
    "order": "apart",
    "once": [0.1, 0.1, 0.1],
    "several": [0.4, 0.4, 0.2],
    "copied": [0.2, 0.2, 0.2],
}


def test_what_counting_adds_is_the_seeds_first_row() -> None:
    found = counter.facts(COUNTED)
    assert found["added_us"] == pytest.approx([20.4] * 3)
    assert found["share_of_step"] == pytest.approx(0.0014, abs=5e-5)
    assert found["within_bar"]
    assert found["self_control"] == [1, 1, 1]
    assert counter.line(found) == (
        "   6 tokens, zipf: 57.5 -> 77.9 us a step of 40 layers, added 20.4 [20.4, 20.4] us,"
        " 0.14% of 14.6 ms; x1.355, self control x1.000"
    )
    slow = {**COUNTED, "counted": [0.0575 + 0.2] * 9}
    assert not counter.facts(slow)["within_bar"]


def test_a_factor_is_reading_several_times_by_reading_once() -> None:
    found = reads.facts(READ)
    assert found["factor"][1] == pytest.approx(4)
    assert found["copy_wins"][1] == pytest.approx(2)
    assert found["gb_s"] == pytest.approx(400)
    assert "read 4 times apart: x4.00 [2.00, 4.00] of once (0.100 ms, 400 GB/s)" in reads.line(
        found
    )


def test_a_record_says_what_is_open(tmp_path: Path) -> None:
    told = record("e1", Machine("python", missing="no GPU"), exact=True, rows=[], open_rows=["it"])
    place = keep(told, tmp_path / "there" / "e1.json")
    kept = json.loads(place.read_text())
    assert kept == told
    assert (kept["device"], kept["interpreter"], kept["open"]) == (None, True, ["it"])


def test_a_record_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    told = record("e1", Machine("python", "GPU", "9.0"), exact=True, rows=[], open_rows=[])
    assert told["capability"] == "9.0"
    (tmp_path / "there").write_text("a file")
    with pytest.raises(LanewrightError, match="cannot write"):
        keep(told, tmp_path / "there" / "e1.json")


def test_records_are_kept_among_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANEWRIGHT_STATE", str(tmp_path))
    told = record("e2", Machine("python", "GPU", "9.0"), exact=True, rows=[], open_rows=[])
    place = keep({**told, "made": "2026-12-04T03:04:05Z"}, None)
    assert place == tmp_path / "probes" / "e2-20261204T030405Z.json"
