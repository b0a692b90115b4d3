"""What an engine wrote is read as it was, up to where it ended, and nothing else is taken for it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from expert_bank.recording.frames import HEAD, Header, Record
from lanewright.errors import LanewrightError
from lanewright.residency.trace_file.engine_file import read_engine_file
from lanewright.residency.trace_file.recorded import Recorded, same
from tests.residency import requests

MIXED = requests.weighted(requests.mixed())


def header_of(found: Recorded, **other: Any) -> Header:  # noqa: ANN401 - of any kind
    told = {
        "model": found.model,
        "layers": found.layers,
        "experts": found.experts,
        "picks": found.picks,
        "hidden": found.hidden_size,
    }
    return Header(**{**told, **other})


def frames_of(found: Recorded) -> list[bytes]:
    frames = []
    assert found.weights is not None
    for forward in np.unique(found.forward):
        of = found.forward == forward
        record = Record(
            int(forward),
            found.request[of],
            found.position[of],
            found.phase[of],
            found.accepted[of],
            found.ids[of],
            found.weights[of],
            None if found.hidden is None else found.hidden[of],
        )
        frames.append(record.frame())
    return frames


def written(file: Path, found: Recorded, **other: Any) -> Path:  # noqa: ANN401 - the same
    file.write_bytes(header_of(found, **other).line() + b"".join(frames_of(found)))
    return file


def test_it_is_read_as_it_was(tmp_path: Path) -> None:
    assert same(read_engine_file(written(tmp_path / "a.picks", MIXED)), MIXED)
    hidden = requests.with_hidden(MIXED, size=5)
    assert same(read_engine_file(written(tmp_path / "b.picks", hidden)), hidden)


def test_the_model_may_be_named(tmp_path: Path) -> None:
    found = read_engine_file(written(tmp_path / "a.picks", MIXED), model="another")
    assert found.model == "another"


@pytest.mark.parametrize("lost", [1, 5, HEAD.size + 3])
def test_a_file_that_ends_within_a_frame_is_good_up_to_there(tmp_path: Path, lost: int) -> None:
    frames = frames_of(MIXED)
    whole, last = b"".join(frames[:-1]), frames[-1]
    file = tmp_path / "a.picks"
    file.write_bytes(header_of(MIXED).line() + whole + last[: len(last) - lost])
    found = read_engine_file(file)
    before = MIXED.forward < MIXED.forward.max()
    assert found.tokens == before.sum() > 0
    assert np.array_equal(found.ids, MIXED.ids[before])


def test_an_engine_that_wrote_nothing_yet(tmp_path: Path) -> None:
    file = tmp_path / "a.picks"
    file.write_bytes(header_of(MIXED).line())
    assert read_engine_file(file).tokens == 0


def test_a_bit_that_is_other_is_told_by_its_place(tmp_path: Path) -> None:
    file = written(tmp_path / "a.picks", MIXED)
    content = bytearray(file.read_bytes())
    start = len(header_of(MIXED).line()) + HEAD.size
    content[start + 40] ^= 1
    file.write_bytes(content)
    with pytest.raises(LanewrightError, match=f"a frame's checksum is wrong, at byte {start}"):
        read_engine_file(file)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"", "its first line does not end"),
        (b"PAR1\n", "its first line cannot be read"),
        (b"[" * 100_000 + b"\n", "its first line cannot be read"),
        (b'{"kind": "stats"}\n', "does not say that it is of kind 'picks'"),
        (b'{"kind": "picks", "schema": 2}\n', "it is of schema '2', and this reads 1"),
    ],
)
def test_first_lines_that_are_none(tmp_path: Path, line: bytes, said: str) -> None:
    file = tmp_path / "a.picks"
    file.write_bytes(line)
    with pytest.raises(LanewrightError, match=said):
        read_engine_file(file)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("experts", 0, "its experts is '0'"),
        ("experts", True, "its experts is 'True'"),
        ("picks", 1000, "its picks is '1000'"),
        ("hidden", -1, "its hidden is '-1'"),
        ("layers", [], "it names no layer"),
        ("layers", [3], "its layers are no names"),
        ("layers", None, "its layers are no names"),
        ("model", None, "it names no layer, too many, or no model"),
    ],
)
def test_headers_out_of_range(tmp_path: Path, key: str, value: object, said: str) -> None:
    told = json.loads(header_of(MIXED).line())
    file = tmp_path / "a.picks"
    file.write_bytes(json.dumps({**told, key: value}).encode() + b"\n")
    with pytest.raises(LanewrightError, match=said):
        read_engine_file(file)


def test_a_frame_of_another_size_than_its_tokens(tmp_path: Path) -> None:
    file = written(tmp_path / "a.picks", MIXED, picks=MIXED.picks + 1)
    with pytest.raises(LanewrightError, match=r"forward \d+ has \d+ bytes for \d+ tokens"):
        read_engine_file(file)


def test_a_head_that_is_none(tmp_path: Path) -> None:
    file = written(tmp_path / "a.picks", MIXED)
    with file.open("ab") as end:
        end.write(HEAD.pack(b"PICK", 2**31, 0))
    with pytest.raises(LanewrightError, match="a frame's head is wrong, at byte"):
        read_engine_file(file)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(LanewrightError, match="there is no such file"):
        read_engine_file(tmp_path / "none")
    with pytest.raises(LanewrightError, match="there is no such file"):
        read_engine_file(tmp_path)
