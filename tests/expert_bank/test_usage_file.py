"""The file of usage counts that a worker boots from, honest and not."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank import usage_file
from expert_bank.refused import Refused
from expert_bank.usage_file import read_usage_file

HONEST: dict[str, Any] = {
    "schema": 1,
    "model": "m",
    "layers": {"a": [1, 2], "b": [3, 2**53 + 1, 0]},
}
ASKED = {"a": 2, "b": 3}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "usage.json"
    path.write_text(json.dumps(HONEST))
    return path


def reason(file: Path, content: bytes | str | Any) -> str:  # noqa: ANN401 - anything, on purpose
    """Why a file with a content is refused; the message names the file."""
    raw = content if isinstance(content, str | bytes) else json.dumps(content)
    file.write_bytes(raw if isinstance(raw, bytes) else raw.encode())
    with pytest.raises(Refused) as refused:
        read_usage_file(file, ASKED, served="m")
    message, hint = str(refused.value).rsplit("\n", 1)
    assert "`lanewright residency map USAGE.parquet --out FILE`" in hint
    start = f"moe_boot_map: usage file {file}: "
    assert message.startswith(start)
    return message.removeprefix(start)


def test_counts_come_exact_and_in_the_order_asked_for(file: Path) -> None:
    b, a = read_usage_file(file, {"b": 3, "a": 2}, served="m").counts
    assert (a.dtype.type, a.tolist()) == (np.int64, [1, 2])
    assert (b.dtype.type, b.tolist()) == (np.int64, [3, 9007199254740993, 0])


def test_layers_of_other_stages_are_no_matter(file: Path) -> None:
    (a,) = read_usage_file(file, {"a": 2}, served="m").counts
    assert a.tolist() == [1, 2]


@pytest.mark.parametrize("change", [{}, {"model": None}])
def test_a_file_without_a_model_is_taken_and_told(file: Path, change: dict[str, Any]) -> None:
    rest = {name: value for name, value in HONEST.items() if name != "model"}
    file.write_text(json.dumps({**rest, **change}))
    found = read_usage_file(file, {"a": 2}, served="/models/x")
    assert found.counts[0].tolist() == [1, 2]
    assert found.whose == (
        f"usage file {file} names no model; whether that is '/models/x' is not known"
    )


def test_a_hash_beside_a_model_without_one_is_told(file: Path) -> None:
    file.write_text(json.dumps({**HONEST, "model": "a" * 64}))
    told = read_usage_file(file, {"a": 2}, served="org/model").whose
    assert told.startswith(f"usage file {file} is of model '{'a' * 64}'; whether that is 'org/")


def test_of_the_model_that_is_served_nothing_is_told(file: Path) -> None:
    assert read_usage_file(file, {"a": 2}, served="m").whose == ""


def test_another_models_counts_are_refused_by_both_names(file: Path) -> None:
    assert reason(file, {**HONEST, "model": "x" * 64}) == (
        f"it is of model '{'x' * 64}', and 'm' is served"
    )


def test_a_missing_layer_is_named_with_those_that_are_there(file: Path) -> None:
    layers = {"b": [3, 4, 5], "c": [], "d": [], "e": [], "f": []}
    told = reason(file, {**HONEST, "layers": layers})
    assert told == "layer 'a' is not in it; it has 'b', 'c', 'd' and 2 more"
    told = reason(file, {**HONEST, "layers": {}})
    assert told == "layer 'a' is not in it; it has none"


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ([1], "layer 'a' has 1 counts for 2 experts"),
        ([1, 2, 3], "layer 'a' has 3 counts for 2 experts"),
        ([], "layer 'a' has 0 counts for 2 experts"),
        (None, "layer 'a' has no list of counts for 2 experts"),
        ({"0": 1, "1": 2}, "layer 'a' has no list of counts for 2 experts"),
        ("12", "layer 'a' has no list of counts for 2 experts"),
        ([1, -1], "layer 'a', expert 1: -1 is no count"),
        ([2**63, 1], "layer 'a', expert 0: 9223372036854775808 is no count"),
        ([1, 2.0], "layer 'a', expert 1: 2.0 is no count"),
        ([1, True], "layer 'a', expert 1: True is no count"),
        ([1, None], "layer 'a', expert 1: None is no count"),
        ([1, "2"], "layer 'a', expert 1: '2' is no count"),
        ([1, [2]], "layer 'a', expert 1: [2] is no count"),
        ([1, "\x1b" * 99], f"layer 'a', expert 1: {ascii(chr(27) * 99)[:72]}... is no count"),
    ],
)
def test_counts_that_are_none_are_named(file: Path, counts: object, told: str) -> None:
    assert reason(file, {**HONEST, "layers": {**HONEST["layers"], "a": counts}}) == told


def test_the_largest_count_is_taken(file: Path) -> None:
    file.write_text(json.dumps({**HONEST, "layers": {"a": [2**63 - 1, 0]}}))
    assert read_usage_file(file, {"a": 2}, served="m").counts[0].tolist() == [2**63 - 1, 0]


@pytest.mark.parametrize("schema", [None, 0, 2, 1.0, True, "1", [1], "x" * 999])
def test_another_schema_is_refused(file: Path, schema: object) -> None:
    told = reason(file, {**HONEST, "schema": schema})
    assert told.startswith("its schema is ")
    assert told.endswith(", and this reads 1")
    assert len(told) < 120


@pytest.mark.parametrize(
    "change", [{"model": ["m"]}, {"model": 5}, {"layers": []}, {"layers": None}]
)
def test_what_lacks_model_or_layers_is_refused(file: Path, change: dict[str, Any]) -> None:
    assert reason(file, {**HONEST, **change}) == "it lacks the layers, or its model is no name"


@pytest.mark.parametrize("content", ["[]", "5", '"text"', "null", "true"])
def test_what_is_no_object_is_refused(file: Path, content: str) -> None:
    assert reason(file, content) == "it is no JSON object"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "Expecting value"),
        (b"PAR1\x15\x04", "Expecting value"),
        (b"\xff\xfe\xfd", "decode"),
        (b'{"schema": 1', "Expecting"),
        (b'{"schema": 1} {}', "Extra data"),
        (b'{"schema": 1, "schema": 1}', "a key comes twice"),
        (b'{"schema": 1, "model": "m", "layers": {"a": [1, 2], "a": [9, 9]}}', "twice"),
        (b'{"schema": NaN}', "NaN is no number"),
        (b'{"schema": Infinity}', "Infinity is no number"),
        (b'{"schema": ' + b"9" * 5000 + b"}", "digits"),
        (b"[" * 200_000, "recursion"),
    ],
)
def test_what_is_no_json_is_refused(file: Path, content: bytes, why: str) -> None:
    told = reason(file, content)
    assert told.startswith("it cannot be read as JSON: ")
    assert why in told


def test_a_file_without_end_is_not_read_to_its_end(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage_file, "MOST_BYTES", 100)
    assert reason(file, b" " * 101) == "it has more than 100 bytes"


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, Path.exists])
def test_what_is_no_file_is_refused(tmp_path: Path, make: Any) -> None:  # noqa: ANN401 - any call
    path = tmp_path / "usage.json"
    make(path)
    with pytest.raises(Refused, match="there is no such file"):
        read_usage_file(path, ASKED, served="m")


@given(st.dictionaries(st.text(), st.lists(st.integers(0, 2**63 - 1), min_size=1), min_size=1))
def test_counts_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, layers: dict[str, list[int]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps({"schema": 1, "model": "m", "layers": layers}))
    asked = {name: len(counts) for name, counts in layers.items()}
    found = read_usage_file(path, asked, served="m")
    assert [counts.tolist() for counts in found.counts] == list(layers.values())
