"""A trace read back is the one that was written."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from lanewright.errors import LanewrightError, MismatchError
from lanewright.residency.trace import counted
from lanewright.residency.trace_file import writing
from lanewright.residency.trace_file.reading import read_trace
from lanewright.residency.trace_file.recorded import Recorded, require_recorded, same
from lanewright.residency.trace_file.sums import require_exact
from lanewright.residency.trace_file.writing import write_trace
from tests.residency import requests, traffic

MIXED = requests.mixed()
HIDDEN = requests.with_hidden(MIXED, size=7)


@pytest.mark.parametrize(
    "found",
    [MIXED, requests.weighted(MIXED), HIDDEN, requests.weighted(HIDDEN)],
    ids=["ids", "weights", "hidden", "all"],
)
def test_every_column_is_as_it_was(tmp_path: Path, found: Recorded) -> None:
    file = tmp_path / "trace.parquet"
    write_trace(file, found)
    assert same(read_trace(file), found)
    assert [each.name for each in tmp_path.iterdir()] == ["trace.parquet"]


@given(st.integers(0, 9), st.integers(1, 3), st.integers(1, 4), st.text(max_size=5))
def test_of_any_size(
    tmp_path_factory: pytest.TempPathFactory, tokens: int, layers: int, picks: int, model: str
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.parquet"
    ids = traffic.uniform(tokens, layers, 4, picks)
    found = replace(requests.recorded(ids, 4), model=model)
    write_trace(file, found)
    assert same(read_trace(file), found)


def test_a_trace_of_several_row_groups(tmp_path: Path) -> None:
    file = tmp_path / "trace.parquet"
    found = requests.recorded(traffic.uniform(90_000, 3, 8, 1), 8)
    write_trace(file, found)
    assert parquet.ParquetFile(file).num_row_groups == 2
    assert same(read_trace(file), found)


def test_a_pick_takes_next_to_no_more_than_its_id(tmp_path: Path) -> None:
    file = tmp_path / "trace.parquet"
    found = requests.recorded(traffic.matched(2000, 8, 384, 6), 384)
    write_trace(file, found)
    assert file.stat().st_size < 1.5 * found.ids.size


def test_other_tools_read_it(tmp_path: Path) -> None:
    file = tmp_path / "trace.parquet"
    write_trace(file, MIXED)
    table = parquet.read_table(file)
    assert table.num_rows == 36
    row = table.slice(7 * 3 + 2, 1).to_pylist()[0]
    ids = MIXED.ids[7, 2].tolist()
    assert row == {
        "forward": 2,
        "request": 0,
        "position": 5,
        "phase": 2,
        "accepted": False,
        "layer": 2,
        "ids": ids,
    }
    assert table.schema.metadata == {
        b"schema": b"1",
        b"model": b"hash",
        b"layers": b'["layers.0.mlp", "layers.1.mlp", "layers.2.mlp"]',
        b"experts": b"16",
        b"picks_per_token": b"2",
        b"tokens": b"12",
        b"phases": b'["prefill", "decode", "verify"]',
    }


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    file = tmp_path / "pipe"
    os.mkfifo(file)
    with pytest.raises(LanewrightError, match=f"cannot write {file}: it is no regular file"):
        write_trace(file, MIXED)
    assert file.is_fifo()


@pytest.mark.parametrize("bound", [{"MOST_PICKS": 71}, {"MOST_TOKENS": 11}], ids=str)
def test_what_no_reader_takes_is_not_written(
    tmp_path: Path, bound: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, most in bound.items():
        monkeypatch.setattr(writing, name, most)
    with pytest.raises(ValueError, match="72 picks of 12 tokens are more than a file has"):
        write_trace(tmp_path / "trace.parquet", MIXED)


CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"layers": ("a", "a", "b")}, "it names no layer, or one of them twice"),
    ({"layers": ("a", "b")}, r"its ids are uint16\[12, 3, 2\], and must be uint16\[T, 2, k\]"),
    ({"ids": MIXED.ids.astype(np.int64)}, r"its ids are int64\[12, 3, 2\]"),
    ({"experts": 0}, "it has 0 experts"),
    ({"experts": 2**16 + 1}, "it has 65537 experts"),
    ({"experts": int(MIXED.ids.max())}, "and must be 0 to"),
    ({"forward": MIXED.forward[1:]}, r"its forward is int64\[11\], and must be int64\[12\]"),
    ({"phase": MIXED.phase.astype(np.int64)}, r"its phase is int64\[12\], and must be uint8\[12\]"),
    ({"forward": MIXED.forward[::-1].copy()}, "its forwards are out of order"),
    ({"forward": MIXED.forward - 1}, "is below 0"),
    ({"request": MIXED.request - 1}, "is below 0"),
    ({"position": MIXED.position - 1}, "is below 0"),
    ({"phase": MIXED.phase + np.uint8(1)}, "a phase is 3, and there are 0 to 2"),
    ({"accepted": ~MIXED.accepted}, "a token is rejected, and was no draft under verify"),
    ({"position": MIXED.position // 2}, "position 0 of request 0 is there twice in forward 0"),
    ({"weights": np.zeros((12, 3, 1), np.float32)}, r"its weights are float32\[12, 3, 1\]"),
    ({"weights": np.full((12, 3, 2), np.nan, np.float32)}, "a weight is no finite number"),
]


@pytest.mark.parametrize(("change", "why"), CHANGES)
def test_what_no_engine_schedules_is_not_written(
    tmp_path: Path, change: dict[str, Any], why: str
) -> None:
    file = tmp_path / "trace.parquet"
    with pytest.raises(ValueError, match=why):
        write_trace(file, replace(MIXED, **change))
    assert not file.exists()


def test_a_request_has_one_phase_in_a_forward() -> None:
    phase = MIXED.phase.copy()
    phase[1] = 1
    with pytest.raises(ValueError, match="position 1 of request 0 is in another phase"):
        require_recorded(replace(MIXED, phase=phase))
    # Of two requests each has its own.
    assert len({*MIXED.phase[MIXED.forward == 1].tolist()}) == 2


def test_sums_are_exact() -> None:
    counts = counted(MIXED.ids, 16)
    require_exact(MIXED, 12, counts)
    with pytest.raises(MismatchError, match=r"layer layers.0.mlp has 24 picks, and 11 tokens of 2"):
        require_exact(MIXED, 11)
    expert = int(MIXED.ids[0, 1, 0])
    counts[1, expert] += 1
    why = rf"layer layers.1.mlp: expert {expert} has \d+ picks in the trace, and .*; 1 such in all"
    with pytest.raises(MismatchError, match=why):
        require_exact(MIXED, 12, counts)
    with pytest.raises(MismatchError, match=r"counts of \[3, 15\] for a trace of \[3, 16\]"):
        require_exact(MIXED, 12, counts[:, 1:])
