"""Reads what an engine wrote with ``moe_record_picks``, with no trust in it.

``expert_bank.recording.frames`` has the form.
"""

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from expert_bank.recording.frames import FORWARD, HEAD, KIND, MAGIC, SCHEMA, Header
from lanewright.errors import LanewrightError
from lanewright.residency.trace_file.form import (
    MOST_HIDDEN,
    MOST_LAYERS,
    MOST_PICKS,
    MOST_PICKS_PER_TOKEN,
    MOST_STATES,
)
from lanewright.residency.trace_file.recorded import MOST_EXPERTS, Recorded, require_recorded

HINT = (
    "EXPERT_BANK_RECORD names the folder that an engine with moe_record_picks writes such files to"
)
MOST_LINE = 2**20
MOST_FRAME = 2**30


def read_engine_file(path: Path, *, model: str = "") -> Recorded:
    """Read the forwards that are whole; an engine that was killed, or still writes, ends within one.

    Args:
        path: The file.
        model: Hash of the model that was served; by default what the engine called it.

    Raises:
        LanewrightError: There is no such file, or it is not of this form.
    """
    try:
        if not path.is_file():
            raise LanewrightError(f"picks {path}: there is no such file", hint=HINT)
        with path.open("rb") as file:
            header = _read_header(file)
            frames = list(_frames(file, header))
        found = _joined(header, frames, model)
        require_recorded(found)
    except OSError as error:
        raise LanewrightError(f"picks {path}: {error.strerror}", hint=HINT) from error
    except ValueError as error:
        raise LanewrightError(f"{path} holds no recorded picks: {error}", hint=HINT) from error
    return found


def _read_header(file: BinaryIO) -> Header:
    line = file.readline(MOST_LINE)
    if not line.endswith(b"\n"):
        raise ValueError("its first line does not end")
    try:
        told = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its first line cannot be read: {error}") from error
    if not isinstance(told, dict) or told.get("kind") != KIND:
        raise ValueError(f"its first line does not say that it is of kind {KIND!r}")
    if told.get("schema") != SCHEMA:
        raise ValueError(
            f"it is of schema {str(told.get('schema'))[:20]!r}, and this reads {SCHEMA}"
        )
    layers = told.get("layers")
    if not isinstance(layers, list) or not all(isinstance(name, str) for name in layers):
        raise ValueError("its layers are no names")
    if not 1 <= len(layers) <= MOST_LAYERS or not isinstance(told.get("model"), str):
        raise ValueError("it names no layer, too many, or no model")
    experts = _number(told, "experts", 1, MOST_EXPERTS)
    picks = _number(told, "picks", 1, min(experts, MOST_PICKS_PER_TOKEN))
    hidden = _number(told, "hidden", 0, MOST_HIDDEN)
    return Header(told["model"], tuple(layers), experts, picks, hidden)


def _number(told: dict[str, Any], key: str, least: int, most: int) -> int:
    number = told.get(key)
    if type(number) is not int or not least <= number <= most:
        raise ValueError(f"its {key} is {str(number)[:20]!r}, and must be {least} to {most}")
    return number


def _row(header: Header) -> np.dtype[np.void]:
    """The columns of one token, as a frame has them one after the other."""
    each = (len(header.layers), header.picks)
    fields: list[Any] = [
        ("request", "<i8"),
        ("position", "<i8"),
        ("phase", "u1"),
        ("accepted", "u1"),
        ("ids", "<u2", each),
        ("weights", "<f4", each),
    ]
    if header.hidden:
        fields.append(("hidden", "<f2", (len(header.layers), header.hidden)))
    return np.dtype(fields)


def _frames(file: BinaryIO, header: Header) -> Iterator[tuple[int, dict[str, NDArray[Any]]]]:
    """Yield the number and the columns of each forward."""
    row, picks, states = _row(header), 0, 0
    while len(head := file.read(HEAD.size)) == HEAD.size:
        magic, size, checksum = HEAD.unpack(head)
        if magic != MAGIC or not FORWARD.size <= size <= MOST_FRAME:
            raise ValueError(f"a frame's head is wrong, at byte {file.tell() - HEAD.size}")
        body = file.read(size)
        if len(body) < size:
            return
        if zlib.crc32(body) != checksum:
            raise ValueError(f"a frame's checksum is wrong, at byte {file.tell() - size}")
        forward, tokens = FORWARD.unpack_from(body)
        if size != FORWARD.size + tokens * row.itemsize:
            raise ValueError(f"forward {forward} has {size} bytes for {tokens} tokens")
        picks += tokens * len(header.layers) * header.picks
        states += tokens * len(header.layers) * header.hidden
        if picks > MOST_PICKS or states > MOST_STATES:
            raise ValueError(
                f"it has more than {MOST_PICKS} picks, or {MOST_STATES} hidden numbers"
            )
        yield forward, dict(_columns(body, tokens, row))


def _columns(
    body: bytes, tokens: int, row: np.dtype[np.void]
) -> Iterator[tuple[str, NDArray[Any]]]:
    start = FORWARD.size
    for name in row.names or ():
        kind, shape = row[name].base, row[name].shape
        count = tokens * int(np.prod(shape, dtype=np.int64))
        flat = np.frombuffer(body, kind, count, start)
        start += flat.nbytes
        yield name, flat.reshape(tokens, *shape)


def _joined(
    header: Header, frames: list[tuple[int, dict[str, NDArray[Any]]]], model: str
) -> Recorded:
    row = _row(header)
    found: dict[str, Any] = {
        name: np.concatenate(
            [np.empty((0, *row[name].shape), row[name].base), *(each[name] for _, each in frames)]
        )
        for name in row.names or ()
    }
    if (found["accepted"] > 1).any():
        raise ValueError("a token is neither accepted nor rejected")
    lengths = [len(each["request"]) for _, each in frames]
    return Recorded(
        model=model or header.model,
        layers=header.layers,
        experts=header.experts,
        forward=np.repeat(np.array([number for number, _ in frames], np.int64), lengths),
        **{**found, "accepted": found["accepted"].astype(np.bool_)},
    )
