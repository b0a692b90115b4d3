"""Others' forms become traces: what they say is there, and what they leave open is the user's."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from lanewright.errors import LanewrightError
from lanewright.residency.trace_file.imported.forms import read_imported
from lanewright.residency.trace_file.imported.source import Said
from lanewright.residency.trace_file.recorded import DECODE, PREFILL, VERIFY, Recorded
from tests.residency import requests, traffic

IDS = traffic.matched(12, 3, 16, 2)


def arrays(folder: Path, *lengths: int, dtype: str = "int32") -> list[Path]:
    """A request a file."""
    files, start = [], 0
    for number, length in enumerate(lengths):
        files.append(folder / f"{number}.npy")
        np.save(files[-1], IDS[start : start + length].astype(dtype))
        start += length
    return files


def layer_files(folder: Path) -> list[Path]:
    """A layer a file, as FLAME-MoE's."""
    files = []
    for layer in range(3):
        told = {
            "indices": pa.array(IDS[:, layer].tolist(), pa.list_(pa.int16())),
            "scores": pa.array([[0.5, 0.25]] * 12, pa.list_(pa.float16())),
        }
        files.append(folder / f"layer_{layer:02}.parquet")
        parquet.write_table(pa.table(told), files[-1])
    return files


def csv_file(folder: Path, found: Recorded, *left_out: str) -> Path:
    """All columns of a trace, but some."""
    names = [
        name
        for name in ("forward", "request", "position", "phase", "accepted", "layer", "ids")
        if name not in left_out
    ]
    lines = [",".join(names)]
    for token in range(found.tokens):
        for layer in range(len(found.layers)):
            told = {
                "forward": str(found.forward[token]),
                "request": str(found.request[token]),
                "position": str(found.position[token]),
                "phase": ("prefill", "decode", "verify")[found.phase[token]],
                "accepted": str(int(found.accepted[token])),
                "layer": str(layer),
                "ids": " ".join(map(str, found.ids[token, layer])),
            }
            lines.append(",".join(told[name] for name in names))
    file = folder / "trace.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64"])
def test_arrays_of_requests(tmp_path: Path, dtype: str) -> None:
    found = read_imported(arrays(tmp_path, 7, 5, dtype=dtype), None, Said("hash", 16, (4, 2)))
    assert (found.ids == IDS).all()
    assert (found.model, found.experts, len(found.layers)) == ("hash", 16, 3)
    assert found.request.tolist() == [0] * 7 + [1] * 5
    assert found.position.tolist() == [*range(7), *range(5)]
    assert found.phase.tolist() == [PREFILL] * 4 + [DECODE] * 3 + [PREFILL] * 2 + [DECODE] * 3
    # A prompt is one forward, each token behind it another.
    assert found.forward.tolist() == [0, 0, 0, 0, 1, 2, 3, 4, 4, 5, 6, 7]
    assert found.weights is None


def test_one_length_of_prompts_stands_for_all_and_none_for_prompts_alone(tmp_path: Path) -> None:
    files = arrays(tmp_path, 7, 5)
    one = read_imported(files, None, Said(prompts=(3,)))
    assert (one.phase == PREFILL).sum() == 6
    none = read_imported(files, None, Said())
    assert (none.phase == PREFILL).all()
    assert none.forward.tolist() == [0] * 7 + [1] * 5
    assert none.experts == int(IDS.max()) + 1


def test_a_file_a_layer(tmp_path: Path) -> None:
    found = read_imported(layer_files(tmp_path), None, Said(experts=64, length=5))
    assert (found.ids == IDS).all()
    assert found.request.tolist() == [0] * 5 + [1] * 5 + [2] * 2
    assert found.weights is not None
    assert (found.weights == np.array([0.5, 0.25], np.float32)).all()
    assert (found.phase == PREFILL).all()


def test_rows_hold_all_that_a_trace_has(tmp_path: Path) -> None:
    mixed = requests.mixed()
    found = read_imported([csv_file(tmp_path, mixed)], None, Said("hash", 16))
    for name in ("ids", "forward", "request", "position", "phase", "accepted"):
        assert (getattr(found, name) == getattr(mixed, name)).all(), name
    assert VERIFY in found.phase


def test_rows_may_leave_out_what_is_not_known(tmp_path: Path) -> None:
    whole = requests.recorded(IDS, 16)
    file = csv_file(tmp_path, whole, "forward", "phase", "accepted")
    found = read_imported([file], None, Said(prompts=(5,)))
    assert found.forward.tolist() == [*range(12)]
    assert found.phase.tolist() == [PREFILL] * 5 + [DECODE] * 7
    assert found.accepted.all()


HEAD = "request,position,layer,ids\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "line 1: its columns are"),
        ("request,position,ids\n0,0,1\n", "line 1: its columns are"),
        (HEAD + "0,0,0\n", "line 2: it has other columns"),
        (HEAD + "0,0,0,1 2\n0,-1,0,1 2\n", "line 3: position is '-1'"),
        (HEAD + "0,0,0,1 2\n0,1,0,1 x\n", "line 3: id is 'x'"),
        (HEAD + "0,0,0,1 2\n0,1,0,1\n", "line 3: 1 ids, and 2 before"),
        (HEAD + "0,0,0,1 2\n0,0,2,1 2\n", "line 3: layer 2 does not follow"),
        (HEAD + "0,0,0,1 2\n0,0,1,1 2\n0,1,0,3 4\n0,2,0,1 2\n", "line 5: the token before lacks"),
        (HEAD + "0,0,0,1 2\n0,0,1,1 2\n0,1,0,3 4\n", "its last one lacks layers"),
        (HEAD + "0,0,0,1 70000\n", "line 2: id 70000"),
        (HEAD + "0,0,0,1 1\n", "twice"),
        (HEAD + "0,0,0,\n", "line 2: 0 ids"),
        (HEAD + "9" * 30 + ",0,0,1\n", "line 2: request is"),
        (HEAD + '0,0,0,"1\n', "line 2"),
    ],
)
def test_rows_that_are_none_are_refused_by_line(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "trace.csv"
    file.write_text(text)
    with pytest.raises(LanewrightError, match=why) as caught:
        read_imported([file], None, Said())
    assert str(file) in caught.value.args[0]


def _pickled(folder: Path) -> list[Path]:
    np.save(folder / "a.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return [folder / "a.npy"]


def _flat(folder: Path) -> list[Path]:
    np.save(folder / "a.npy", IDS[:, 0])
    return [folder / "a.npy"]


def _floats(folder: Path) -> list[Path]:
    np.save(folder / "a.npy", IDS.astype(np.float32))
    return [folder / "a.npy"]


def _negative(folder: Path) -> list[Path]:
    np.save(folder / "a.npy", IDS - 20)
    return [folder / "a.npy"]


def _other_shape(folder: Path) -> list[Path]:
    np.save(folder / "a.npy", IDS)
    np.save(folder / "b.npy", IDS[:, :2])
    return [folder / "a.npy", folder / "b.npy"]


def _garbage(folder: Path) -> list[Path]:
    (folder / "a.npy").write_bytes(b"\x93NUMPY\x01\x00nothing")
    return [folder / "a.npy"]


def _none(folder: Path) -> list[Path]:
    np.save(folder / "a.npy", IDS[:0])
    return [folder / "a.npy"]


def _no_column(folder: Path) -> list[Path]:
    parquet.write_table(pa.table({"scores": [[1.0]]}), folder / "a.parquet")
    return [folder / "a.parquet"]


def _ragged(folder: Path) -> list[Path]:
    parquet.write_table(pa.table({"indices": [[1, 2], [3]]}), folder / "a.parquet")
    return [folder / "a.parquet"]


def _nulls(folder: Path) -> list[Path]:
    parquet.write_table(pa.table({"indices": [[1, 2], None]}), folder / "a.parquet")
    return [folder / "a.parquet"]


def _texts(folder: Path) -> list[Path]:
    parquet.write_table(pa.table({"indices": [["a"], ["b"]]}), folder / "a.parquet")
    return [folder / "a.parquet"]


def _not_parquet(folder: Path) -> list[Path]:
    (folder / "a.parquet").write_text("PAR1")
    return [folder / "a.parquet"]


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (_pickled, "it is no NumPy file of numbers"),
        (_flat, r"must be int\[t, L, k\]"),
        (_floats, r"must be int\[t, L, k\]"),
        (_negative, "ids from -"),
        (_other_shape, "different shapes"),
        (_garbage, "it is no NumPy file of numbers"),
        (_none, "it has no token"),
        (_no_column, "it has no column indices"),
        (_ragged, r"lists of \[1, 2\]"),
        (_nulls, "lack some"),
        (_texts, "its indices are lists of"),
        (_not_parquet, "it cannot be read as Parquet"),
    ],
)
def test_what_is_of_no_form_is_refused_by_name(
    tmp_path: Path, made: Callable[[Path], list[Path]], why: str
) -> None:
    with pytest.raises(LanewrightError, match=why) as caught:
        read_imported(made(tmp_path), None, Said())
    assert str(tmp_path / "a.") in caught.value.args[0]
    assert caught.value.hint is not None


def test_lengths_that_do_not_go_with_the_requests_are_refused(tmp_path: Path) -> None:
    files = arrays(tmp_path, 7, 5)
    with pytest.raises(LanewrightError, match="2 requests, and 3 lengths"):
        read_imported(files, None, Said(prompts=(1, 2, 3)))
    with pytest.raises(LanewrightError, match="request 1 has 5 tokens, and a prompt of 6"):
        read_imported(files, None, Said(prompts=(6,)))


def test_a_form_that_no_name_tells_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.pt").write_bytes(b"PK")
    with pytest.raises(LanewrightError, match="does not tell its form") as caught:
        read_imported([tmp_path / "a.pt"], None, Said())
    assert "numpy.save" in (caught.value.hint or "")
    with pytest.raises(LanewrightError, match="there is no such file"):
        read_imported([tmp_path / "b.npy"], None, Said())
