"""Usage maps read back, and handed to a worker."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from expert_bank.usage_file import read_usage_file
from lanewright.errors import LanewrightError
from lanewright.residency import usage_map
from lanewright.residency.usage_map import UsageMap, read_usage_map
from lanewright.serve.usage import write_usage

TOLD = {"model": "hash", "layers": '["a", "b"]'}
ROWS: dict[str, Sequence[Any]] = {
    "layer": [0, 0, 1, 1, 1],
    "expert": [0, 1, 0, 1, 2],
    "count": [1, 2, 3, 2**53 + 1, 0],
}


def write(
    path: Path,
    rows: Mapping[str, Sequence[Any]] = ROWS,
    told: Mapping[str, str | bytes] | None = None,
) -> Path:
    """Write a Parquet file, honest or not."""
    metadata = TOLD if told is None else told
    parquet.write_table(pa.table(dict(rows)).replace_schema_metadata(dict(metadata)), path)
    return path


def refused(path: Path) -> str:
    """Why a file is no usage map; the message names the file."""
    with pytest.raises(LanewrightError) as error:
        read_usage_map(path)
    assert "lanewright usage --out" in str(error.value.hint)
    start = f"{path} is no usage map: "
    assert str(error.value).startswith(start)
    return str(error.value).removeprefix(start)


def test_counts_are_exact(tmp_path: Path) -> None:
    found = read_usage_map(write(tmp_path / "usage.parquet"))
    assert found == UsageMap("hash", {"a": [1, 2], "b": [3, 9007199254740993, 0]})


def test_the_order_of_rows_is_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "usage.parquet"
    expected = read_usage_map(write(path))
    assert read_usage_map(write(path, {k: [*reversed(v)] for k, v in ROWS.items()})) == expected


@given(
    st.dictionaries(
        st.text(min_size=1), st.lists(st.integers(0, 2**63 - 1), min_size=1), min_size=1
    )
)
def test_a_worker_reads_what_a_server_counted(
    tmp_path_factory: pytest.TempPathFactory, counted: dict[str, list[int]]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    worker = {
        "layers": [*counted],
        "picks_per_token": 1,
        "tokens": 1,
        "counts": [*counted.values()],
    }
    written = write_usage(folder / "usage.parquet", [worker], model="hash")
    assert written
    file = folder / "usage.json"
    file.write_text(read_usage_map(written).text(), encoding="ascii")
    layers = {name: len(counts) for name, counts in counted.items()}
    found = read_usage_file(file, layers, served="hash")
    assert [counts.tolist() for counts in found.counts] == [*counted.values()]


def test_the_file_says_its_schema_and_model(tmp_path: Path) -> None:
    text = read_usage_map(write(tmp_path / "usage.parquet")).text()
    assert text.endswith("}\n")
    assert json.loads(text) == {
        "schema": 1,
        "model": "hash",
        "layers": {"a": [1, 2], "b": [3, 2**53 + 1, 0]},
    }


@pytest.mark.parametrize("make", [Path.mkdir, Path.exists])
def test_what_is_no_file_is_told(tmp_path: Path, make: Any) -> None:  # noqa: ANN401 - any call
    path = tmp_path / "usage.parquet"
    make(path)
    with pytest.raises(LanewrightError, match=f"usage map {path}: there is no such file") as error:
        read_usage_map(path)
    assert "lanewright usage --out FILE" in (error.value.hint or "")


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" * 9, b'{"schema": 1}\n' * 9])
def test_what_is_no_parquet_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "usage.parquet"
    path.write_bytes(content)
    assert refused(path).startswith("it cannot be read as Parquet: ")


@pytest.mark.parametrize("cut", [1, 8, 100, 400])
def test_a_file_that_was_cut_is_told(tmp_path: Path, cut: int) -> None:
    path = write(tmp_path / "usage.parquet")
    path.write_bytes(path.read_bytes()[:-cut])
    assert refused(path).startswith("it cannot be read as Parquet: ")


@pytest.mark.parametrize("name", ROWS)
def test_a_missing_column_is_named(tmp_path: Path, name: str) -> None:
    rows = {key: column for key, column in ROWS.items() if key != name}
    assert refused(write(tmp_path / "usage.parquet", rows)) == f"it lacks {name}"


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({}, "its metadata lacks model"),
        ({"model": "hash"}, "its metadata lacks layers"),
        ({**TOLD, "model": b"\xff"}, "its metadata cannot be read"),
        ({**TOLD, "layers": "[" * 200_000}, "its metadata cannot be read"),
        ({**TOLD, "layers": "["}, "its metadata cannot be read"),
        ({**TOLD, "layers": "5"}, "its metadata names no layers"),
        ({**TOLD, "layers": "[1, 2]"}, "its metadata names no layers"),
        ({**TOLD, "layers": "[]"}, "its metadata names no layer, or one of them twice"),
        ({**TOLD, "layers": '["a", "a"]'}, "its metadata names no layer, or one of them twice"),
        ({**TOLD, "layers": '["a"]'}, "(1, 0, 3) is no layer, or no count"),
        ({**TOLD, "layers": '["a", "b", "c"]'}, "layer 2 lacks experts"),
    ],
)
def test_metadata_that_is_none_is_told(
    tmp_path: Path, told: dict[str, str | bytes], why: str
) -> None:
    assert refused(write(tmp_path / "usage.parquet", told=told)).startswith(why)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"count": [1, -2, 3, 4, 0]}, "(0, 1, -2) is no layer, or no count"),
        (
            {"count": pa.array([1, 2**63, 3, 4, 0], pa.uint64())},
            "(0, 1, 9223372036854775808) is no layer, or no count",
        ),
        ({"count": [1.0, 2.0, 3.0, 4.0, 0.0]}, "no whole numbers in row (0, 0, 1.0)"),
        ({"count": [1, None, 3, 4, 0]}, "no whole numbers in row (0, 1, None)"),
        ({"count": [True, False, True, True, True]}, "no whole numbers in row (0, 0, True)"),
        ({"count": ["1", "2", "3", "4", "0"]}, "no whole numbers in row (0, 0, 1)"),
        ({"layer": [0, 0, 1, 1, -1]}, "(-1, 2, 0) is no layer, or no count"),
        ({"layer": [0, 0, 1, 1, 2]}, "(2, 2, 0) is no layer, or no count"),
        ({"expert": [0, 0, 0, 1, 2]}, "layer 0 has expert 0 twice"),
        ({"expert": [0, 2, 0, 1, 2]}, "layer 0 lacks experts"),
        ({"expert": [0, -1, 0, 1, 2]}, "layer 0 lacks experts"),
        ({"expert": [0, 2**40, 0, 1, 2]}, "layer 0 lacks experts"),
        ({"layer": [], "expert": [], "count": []}, "layer 0 lacks experts"),
    ],
)
def test_rows_that_are_no_table_are_told(
    tmp_path: Path, change: dict[str, Sequence[Any]], why: str
) -> None:
    assert refused(write(tmp_path / "usage.parquet", {**ROWS, **change})) == why


def test_a_file_of_too_many_rows_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage_map, "MOST_ROWS", 4)
    assert refused(write(tmp_path / "usage.parquet")) == "it has more than 4 rows"
