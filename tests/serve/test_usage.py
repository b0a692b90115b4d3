"""Usage maps as whoever reads Parquet finds them."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from lanewright.errors import LanewrightError
from lanewright.serve.usage import usage_map, write_usage


def worker(**layers: list[int]) -> dict[str, Any]:
    counts = [*layers.values()]
    return {"layers": [*layers], "picks_per_token": 2, "tokens": 7, "counts": counts}


def test_a_row_for_every_layer_and_expert(tmp_path: Path) -> None:
    target = tmp_path / "usage.parquet"
    most = 2**40
    assert write_usage(target, [worker(b=[1, 0, 5], a=[2, most, 3])], model="hash") == target
    table = parquet.read_table(target)
    assert table.to_pydict() == {
        "layer": [0, 0, 0, 1, 1, 1],
        "expert": [0, 1, 2, 0, 1, 2],
        "count": [1, 0, 5, 2, most, 3],
    }
    assert [field.type for field in table.schema] == [pa.int32(), pa.int32(), pa.int64()]
    assert table.schema.metadata == {
        b"model": b"hash",
        b"layers": b'["b", "a"]',
        b"tokens": b"7",
        b"picks_per_token": b"2",
    }
    assert [path.name for path in tmp_path.iterdir()] == ["usage.parquet"]


def test_workers_that_share_layers_are_not_added_up() -> None:
    shared = worker(a=[1, 2], b=[3, 4])
    assert usage_map([shared, shared]) == {"a": [1, 2], "b": [3, 4]}


def test_workers_with_layers_of_their_own_are_put_together(tmp_path: Path) -> None:
    target = tmp_path / "usage.parquet"
    write_usage(target, [None, worker(a=[1, 2]), worker(b=[3, 4])], model="hash")
    table = parquet.read_table(target)
    assert table.column("count").to_pylist() == [1, 2, 3, 4]
    assert json.loads(table.schema.metadata[b"layers"]) == ["a", "b"]


@pytest.mark.parametrize("usage", [[], [None], [None, None]])
def test_where_nothing_counts_nothing_is_written(tmp_path: Path, usage: list[None]) -> None:
    assert write_usage(tmp_path / "usage.parquet", usage, model="hash") is None
    assert usage_map(usage) == {}
    assert not [*tmp_path.iterdir()]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    target = tmp_path / "absent" / "usage.parquet"
    with pytest.raises(LanewrightError, match=f"cannot write {target}: No such file"):
        write_usage(target, [worker(a=[1])], model="hash")


@given(
    st.dictionaries(
        st.text(min_size=1), st.lists(st.integers(0, 2**63 - 1), min_size=1), min_size=1
    )
)
def test_counts_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, counted: dict[str, list[int]]
) -> None:
    target = tmp_path_factory.getbasetemp() / "any.parquet"
    write_usage(target, [worker(**counted)], model="hash")
    table = parquet.read_table(target)
    names = json.loads(table.schema.metadata[b"layers"])
    found: dict[str, list[int]] = {name: [] for name in names}
    for row in table.to_pylist():
        found[names[row["layer"]]].append(row["count"])
    assert found == counted
