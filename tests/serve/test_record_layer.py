"""A run's record tells the lane's layer as its lock does."""

import json
from pathlib import Path

import msgspec
import pytest
from jsonschema import Draft202012Validator

from lanewright.queue.lock import layer_of, read_lock
from lanewright.serve.record import SCHEMA_FILE

ROOT = Path(__file__).parents[2]
MEGABYTE = 1_000_000
LOCKS = sorted(path.stem for path in ROOT.glob("series/*.lock") if '"layer"' in path.read_text())


@pytest.mark.parametrize("lane", LOCKS)
def test_the_schema_knows_all_that_a_layer_has(lane: str) -> None:
    lock = read_lock(ROOT / f"series/{lane}.lock")
    assert lock
    layer = msgspec.to_builtins(layer_of(lock))
    assert layer["version"].startswith("0.32.0+lane.")
    schema = json.loads(SCHEMA_FILE.read_text())
    Draft202012Validator({**schema["properties"]["layer"], "$defs": schema["$defs"]}).validate(
        layer
    )


@pytest.mark.parametrize("lane", LOCKS)
def test_a_layer_is_small(lane: str) -> None:
    lock = read_lock(ROOT / f"series/{lane}.lock")
    assert lock
    assert layer_of(lock).size < MEGABYTE
