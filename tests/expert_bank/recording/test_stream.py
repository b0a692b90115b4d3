"""What an engine writes is whole up to where it ended, and never more than it may be."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from expert_bank.recording.frames import DECODE, VERIFY, Header, Record
from expert_bank.recording.recorder import Forward, Recorder, columns
from expert_bank.recording.settings import RecordSettings
from expert_bank.recording.stream import Stream
from expert_bank.refused import Refused

HEADER = Header("a model", ("0", "1"), experts=8, picks=2)


def record(forward: int, tokens: int = 3) -> Record:
    """A forward of one request."""
    draw = np.random.default_rng(forward)
    return Record(
        forward,
        request=np.zeros(tokens, np.int64),
        position=np.arange(tokens) + forward * tokens,
        phase=np.full(tokens, DECODE, np.uint8),
        accepted=np.ones(tokens, np.bool_),
        ids=np.argsort(draw.random((tokens, 2, 8)))[..., :2].astype(np.uint16),
        weights=draw.random((tokens, 2, 2), np.float32),
    )


def test_a_file_is_its_header_and_its_frames(tmp_path: Path) -> None:
    stream = Stream(tmp_path, HEADER)
    for forward in range(3):
        stream.append(record(forward))
    whole = HEADER.line() + b"".join(record(forward).frame() for forward in range(3))
    assert stream.path.read_bytes() == whole
    assert (stream.tokens, stream.ended) == (9, "")
    assert stream.path.stat().st_mode & 0o777 == 0o600


def test_a_file_never_has_more_bytes_than_it_may(tmp_path: Path) -> None:
    frame = len(record(0).frame())
    most = len(HEADER.line()) + 2 * frame + frame // 2
    stream = Stream(tmp_path, HEADER, most)
    for forward in range(4):
        stream.append(record(forward))
    assert stream.path.stat().st_size == len(HEADER.line()) + 2 * frame
    assert stream.tokens == 6
    assert stream.ended == "the file has as many bytes as it may have"


def test_a_full_disk_ends_the_recording_and_nothing_else(tmp_path: Path) -> None:
    stream = Stream(tmp_path, HEADER)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, stream._file)  # noqa: SLF001 - the disk is full from here on
    stream.append(record(0))
    stream.append(record(1))
    assert stream.ended == "No space left on device"
    assert stream.tokens == 0


def test_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"cannot write .*gone.*No such file"):
        Stream(tmp_path / "gone", HEADER)


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({}, "EXPERT_BANK_RECORD is '', and must name a folder, from / on"),
        ({"EXPERT_BANK_RECORD": "here"}, "EXPERT_BANK_RECORD is 'here'"),
        ({"EXPERT_BANK_RECORD": "/f", "EXPERT_BANK_RECORD_SIZE": "much"}, "must be a size"),
        ({"EXPERT_BANK_RECORD": "/f", "EXPERT_BANK_RECORD_SIZE": "0GiB"}, "must be a size"),
        ({"EXPERT_BANK_RECORD": "/f", "EXPERT_BANK_RECORD_HIDDEN": "yes"}, "must be 1 or 0"),
    ],
)
def test_settings_that_are_none(environ: Mapping[str, str], said: str) -> None:
    with pytest.raises(Refused, match=said):
        RecordSettings.read(environ)


def test_settings() -> None:
    given = {"EXPERT_BANK_RECORD": "/f", "EXPERT_BANK_RECORD_SIZE": "1MiB"}
    assert RecordSettings.read(given) == RecordSettings(Path("/f"), 2**20, hidden=False)
    hidden = RecordSettings.read({**given, "EXPERT_BANK_RECORD_HIDDEN": "1"})
    assert hidden == RecordSettings(Path("/f"), 2**20, hidden=True)


class Kept:
    """A stream that keeps what it is given."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.tokens, self.ended, self.path = 0, "", Path("/f")

    def append(self, found: Record) -> None:
        self.records.append(found)


def verified(forward: int, drafts: int) -> Forward:
    """A forward of two requests: one token, and one with drafts under verify."""
    spans = [(0, 1, 0, DECODE), (1, 1 + drafts, drafts, VERIFY)]
    request, phase, accepted = columns(spans)
    whole = record(forward, 2 + drafts)
    whole.request, whole.phase, whole.accepted = request, phase, accepted
    return Forward(whole, {"b": slice(2, 2 + drafts)})


def recorder() -> tuple[Recorder, Kept]:
    kept: Any = Kept()
    return Recorder(kept), kept


def test_columns_lie_as_the_batch_does() -> None:
    request, phase, accepted = columns([(7, 2, 0, DECODE), (3, 4, 3, VERIFY)])
    assert request.tolist() == [7, 7, 3, 3, 3, 3]
    assert phase.tolist() == [1, 1, 2, 2, 2, 2]
    assert accepted.tolist() == [True, True, True, False, False, False]


@pytest.mark.parametrize(
    ("sampled", "accepted"),
    [(0, 0), (1, 0), (2, 1), (4, 3)],
)
def test_drafts_are_accepted_as_many_as_were_sampled_but_one(sampled: int, accepted: int) -> None:
    made, kept = recorder()
    forward = verified(0, drafts=3)
    made.ran(forward)
    assert kept.records == []
    made.sampled(forward, {"a": 1, "b": sampled})
    (found,) = kept.records
    wanted = [True, True] + [True] * accepted + [False] * (3 - accepted)
    assert found.accepted.tolist() == wanted


def test_forwards_are_written_in_order_whichever_is_known_first() -> None:
    made, kept = recorder()
    first, second, third = verified(0, 2), verified(1, 2), Forward(record(2))
    for each in (first, second, third):
        made.ran(each)
    made.sampled(second, {"b": 1})
    assert kept.records == []
    made.sampled(first, {"b": 2})
    assert [each.forward for each in kept.records] == [0, 1, 2]
    assert made.tokens == 4 + 4 + 3
