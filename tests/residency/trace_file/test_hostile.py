"""Files that are no traces, by accident or not."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from lanewright.errors import LanewrightError
from lanewright.residency.trace_file.reading import read_trace
from lanewright.residency.trace_file.writing import write_trace
from tests.residency import requests

MIXED = requests.mixed()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    target = tmp_path / "trace.parquet"
    write_trace(target, requests.weighted(MIXED))
    return target


def refused(file: Path) -> str:
    """Why a file is no trace; the message names it."""
    with pytest.raises(LanewrightError) as error:
        read_trace(file)
    assert error.value.hint
    start = f"{file} is no trace: "
    assert str(error.value).startswith(start)
    return str(error.value).removeprefix(start)


def rewritten(file: Path, **columns: Any) -> Path:  # noqa: ANN401 - arrays
    """Put other columns in, and leave the header."""
    table = parquet.read_table(file)
    metadata = table.schema.metadata
    for name, column in columns.items():
        place = table.schema.get_field_index(name)
        table = table.remove_column(place) if place >= 0 else table
        table = table if column is None else table.append_column(name, column)
    parquet.write_table(table.replace_schema_metadata(metadata), file)
    return file


def retold(file: Path, **told: str | bytes | None) -> Path:
    """Put another header before the same columns."""
    table = parquet.read_table(file)
    metadata = {key.decode(): value for key, value in table.schema.metadata.items()}
    metadata |= {key: value for key, value in told.items() if value is not None}
    metadata = {key: value for key, value in metadata.items() if told.get(key, "") is not None}
    parquet.write_table(table.replace_schema_metadata(metadata), file)
    return file


@pytest.mark.parametrize("make", [Path.mkdir, Path.exists])
def test_what_is_no_file_is_told(tmp_path: Path, make: Any) -> None:  # noqa: ANN401 - any call
    make(tmp_path / "trace.parquet")
    with pytest.raises(LanewrightError, match=r"trace .*: there is no such file"):
        read_trace(tmp_path / "trace.parquet")


@pytest.mark.parametrize("content", [b"", b"PAR1" * 9, b'{"schema": 1}\n' * 9])
def test_what_is_no_parquet_is_told(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    assert refused(file).startswith("it cannot be read as Parquet: ")


@pytest.mark.parametrize("cut", [1, 8, 100, 1000, 2500])
def test_a_file_that_was_cut_is_told(file: Path, cut: int) -> None:
    file.write_bytes(file.read_bytes()[:-cut])
    assert refused(file).startswith("it cannot be read as Parquet: ")


def test_no_byte_that_is_another_gives_another_crash(file: Path) -> None:
    whole = file.read_bytes()
    for place in range(4, len(whole), 37):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            read_trace(file)
        except LanewrightError as error:
            assert str(error).startswith(f"{file} is no trace: ")  # noqa: PT017 - it may be read


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"model": None}, "its metadata lacks model"),
        ({"phases": None}, "its metadata lacks phases"),
        ({"model": b"\xff"}, "its metadata cannot be read: "),
        ({"schema": "2"}, "it is of schema '2', and this reads 1"),
        ({"phases": '["prefill", "decode"]'}, "its phases are not prefill, decode, verify"),
        ({"layers": "[" * 200_000}, "its metadata cannot be read: layers: "),
        ({"layers": "[1, 2]"}, "its metadata has layers that are no names"),
        ({"layers": '["a", "a", "b"]'}, "its metadata names no layer, one of them twice, or"),
        ({"layers": "[]"}, "its metadata names no layer, one of them twice, or too many"),
        ({"layers": '["a", "b"]'}, "it has 36 rows, and 12 tokens of 2 layers are 24"),
        ({"tokens": "11"}, "it has 36 rows, and 11 tokens of 3 layers are 33"),
        ({"tokens": "-1"}, "its tokens is '-1', and must be 0 to "),
        ({"tokens": "9" * 5000}, "its tokens is '99999999999999999999', and must be 0 to "),
        ({"tokens": str(2**30)}, "its tokens is '1073741824', and must be 0 to 67108864"),
        ({"tokens": "²"}, "its tokens is '²', and must be 0 to "),
        ({"experts": "65537"}, "its experts is '65537', and must be 1 to 65536"),
        ({"experts": "3"}, "ids are 0 to 15, and must be 0 to 2"),
        ({"picks_per_token": "0"}, "its picks_per_token is '0', and must be 1 to 16"),
        ({"picks_per_token": "17"}, "its picks_per_token is '17', and must be 1 to 16"),
        ({"picks_per_token": "3"}, "its ids is fixed_size_list<element: uint16 not null>[2], and"),
    ],
)
def test_a_header_that_is_none_is_told(
    file: Path, told: dict[str, str | bytes | None], why: str
) -> None:
    assert refused(retold(file, **told)).startswith(why)


def lists(values: Any, kind: Any) -> Any:  # noqa: ANN401 - arrays and types
    return pa.array(values, pa.list_(kind, 2))


IDS = MIXED.ids.reshape(-1, 2).tolist()
LAYER = np.tile(np.arange(3, dtype=np.uint16), 12)
FORWARD = np.repeat(MIXED.forward, 3)
NULLED = pa.array([None, *FORWARD[1:].tolist()], pa.int64())


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"phase": None}, "its columns are not forward, request, position, phase, accepted, layer"),
        ({"ids": None}, "its columns are not forward"),
        ({"more": pa.array(FORWARD)}, "its columns are not forward"),
        (
            {"forward": pa.array(FORWARD.astype(np.int32))},
            "its forward is int32, and must be int64",
        ),
        ({"forward": NULLED}, "its forward has nulls"),
        ({"forward": pa.array(FORWARD[::-1].copy())}, "its forwards are out of order"),
        (
            {"forward": pa.array(FORWARD + (np.arange(36) == 35))},
            "a token's forward differs from layer to layer",
        ),
        ({"layer": pa.array(LAYER[::-1].copy())}, "a token lacks a layer, or has its layers out"),
        ({"layer": pa.array(LAYER + np.uint16(1))}, "a token lacks a layer, or has its layers out"),
        ({"ids": lists(IDS, pa.int32())}, "its ids is fixed_size_list<element: int32>[2]"),
        ({"ids": pa.array(IDS, pa.list_(pa.uint16()))}, "its ids is list<element: uint16>, and"),
        ({"ids": lists([[0, None], *IDS[1:]], pa.uint16())}, "its ids has nulls"),
        ({"ids": lists([None, *IDS[1:]], pa.uint16())}, "its ids has nulls"),
        ({"ids": lists([[16, 0], *IDS[1:]], pa.uint16())}, "ids are 0 to 16, and must be 0 to 15"),
        ({"ids": lists([[5, 5], *IDS[1:]], pa.uint16())}, "a token picks one expert of a layer"),
        ({"accepted": pa.array([True] * 35 + [False])}, "a token's accepted differs from layer to"),
        (
            {"weights": lists([[np.inf, 0.0]] * 36, pa.float32())},
            "a weight is no finite number",
        ),
    ],
)
def test_columns_that_are_none_are_told(file: Path, columns: dict[str, Any], why: str) -> None:
    assert refused(rewritten(file, **columns)).startswith(why)


def test_rows_may_be_of_another_writer(file: Path) -> None:
    table = parquet.read_table(file)
    fields = [field.with_nullable(nullable=True) for field in table.schema]
    schema = pa.schema(fields, metadata=table.schema.metadata)
    parquet.write_table(table.cast(schema).select(sorted(schema.names)), file)
    assert (read_trace(file).ids == MIXED.ids).all()


def test_a_token_may_lie_in_two_row_groups(file: Path) -> None:
    parquet.write_table(parquet.read_table(file), file, row_group_size=5)
    assert (read_trace(file).phase == MIXED.phase).all()


def test_hidden_states_of_another_size_than_it_says(file: Path) -> None:
    write_trace(file, requests.with_hidden(MIXED, size=3))
    assert read_trace(file).hidden_size == 3
    assert "its hidden is" in refused(retold(file, hidden_size="4"))
    assert "hidden_size is '0'" in refused(retold(file, hidden_size="0"))
    assert "its columns are not" in refused(retold(file, hidden_size=None))


def test_a_hidden_state_that_is_no_number(file: Path) -> None:
    found = requests.with_hidden(MIXED, size=3)
    assert found.hidden is not None
    write_trace(file, found)
    column = pa.array([[float("nan")] * 3] * found.hidden[..., 0].size, pa.list_(pa.float16(), 3))
    assert "a hidden state is no finite number" in refused(rewritten(file, hidden=column))
