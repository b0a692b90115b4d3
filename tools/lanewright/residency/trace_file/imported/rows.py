"""CSV with a row for each token and layer: what anybody can write.

The head names the columns: ``request``, ``position``, ``layer`` and ``ids`` (numbers with blanks between), and, where
they are known, ``forward``, ``phase`` (prefill, decode or verify) and ``accepted`` (0 or 1).
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lanewright.residency.trace_file.form import MOST_PICKS_PER_TOKEN
from lanewright.residency.trace_file.imported.source import Said
from lanewright.residency.trace_file.recorded import (
    DECODE,
    MOST_EXPERTS,
    PHASES,
    PREFILL,
    Recorded,
    require_recorded,
)

NEEDED = ("request", "position", "layer", "ids")
KNOWN = (*NEEDED, "forward", "phase", "accepted")
MOST_NUMBER = 2**62
MOST_ROWS = 2**24


@dataclass(frozen=True)
class Token:
    """What all rows of a token have in common."""

    request: int
    position: int
    forward: int | None
    phase: int | None
    accepted: bool


def read_rows(files: list[Path], said: Said) -> Recorded:
    """Read one CSV file. A token's rows follow one another, layers from 0 on.

    Raises:
        ValueError: It is none; the line is named.
    """
    if len(files) != 1:
        raise ValueError(f"{len(files)} files, and a CSV trace is one")
    (file,) = files
    tokens: list[Token] = []
    ids: list[list[list[int]]] = []
    layers = 0
    for line, token, layer, picks in _rows(file):
        if layer == 0:
            if ids and len(ids[-1]) != (layers or len(ids[-1])):
                raise ValueError(f"{file}, line {line}: the token before lacks layers")
            layers = layers or (len(ids[-1]) if ids else 0)
            tokens.append(token)
            ids.append([])
        if not ids or token != tokens[-1] or layer != len(ids[-1]):
            raise ValueError(f"{file}, line {line}: layer {layer} does not follow the row before")
        if len(picks) != len(ids[0][0] if ids[0] else picks):
            raise ValueError(f"{file}, line {line}: {len(picks)} ids, and {len(ids[0][0])} before")
        ids[-1].append(picks)
    if not ids or len(ids[-1]) != (layers or len(ids[-1])):
        raise ValueError(f"{file}: it has no token, or its last one lacks layers")
    array = np.array(ids, np.int64)
    known = tokens[0].phase is not None
    request = np.array([each.request for each in tokens], np.int64)
    position = np.array([each.position for each in tokens], np.int64)
    found = Recorded(
        model=said.model,
        layers=tuple(f"layers.{number}" for number in range(array.shape[1])),
        experts=said.experts or int(array.max()) + 1,
        ids=array.astype(np.uint16),
        forward=np.array(_forwards(tokens), np.int64),
        request=request,
        position=position,
        phase=(
            np.array([each.phase for each in tokens])
            if known
            else np.where(position < (said.prompts[0] if said.prompts else 0), PREFILL, DECODE)
        ).astype(np.uint8),
        accepted=np.array([each.accepted for each in tokens], np.bool_),
    )
    require_recorded(found)
    return found


def _forwards(tokens: list[Token]) -> list[int]:
    return [number if each.forward is None else each.forward for number, each in enumerate(tokens)]


def _rows(file: Path) -> Iterator[tuple[int, Token, int, list[int]]]:
    with file.open(newline="", encoding="utf-8") as opened:
        reader = csv.DictReader(opened, strict=True)
        try:
            names = tuple(reader.fieldnames or ())
            if not set(NEEDED) <= set(names) <= set(KNOWN) or len(set(names)) != len(names):
                raise ValueError(
                    f"{file}, line 1: its columns are {', '.join(names)[:80]!r}, and must be"
                    f" {', '.join(NEEDED)}, and may be {', '.join(KNOWN[len(NEEDED) :])}"
                )
            for row in reader:
                line = reader.line_num
                if line > MOST_ROWS:
                    raise ValueError(f"{file}: it has more than {MOST_ROWS} lines")
                if None in row or None in row.values():
                    raise ValueError(f"{file}, line {line}: it has other columns than the head")
                try:
                    yield line, _token(row), _number(row, "layer"), _ids(row["ids"])
                except ValueError as error:
                    raise ValueError(f"{file}, line {line}: {error}") from error
        except (csv.Error, UnicodeDecodeError) as error:
            raise ValueError(f"{file}, line {reader.line_num + 1}: {error}") from error


def _token(row: dict[str, str]) -> Token:
    phase = row.get("phase")
    if phase is not None and phase not in PHASES:
        raise ValueError(f"phase is {phase[:20]!r}, and there are {', '.join(PHASES)}")
    accepted = row.get("accepted", "1")
    if accepted not in ("0", "1"):
        raise ValueError(f"accepted is {accepted[:20]!r}, and must be 0 or 1")
    return Token(
        _number(row, "request"),
        _number(row, "position"),
        _number(row, "forward") if "forward" in row else None,
        None if phase is None else PHASES.index(phase),
        accepted == "1",
    )


def _number(row: dict[str, str], name: str) -> int:
    text = row[name]
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(MOST_NUMBER)):
        raise ValueError(f"{name} is {text[:20]!r}, and must be a number from 0 on")
    if (number := int(text)) > MOST_NUMBER:
        raise ValueError(f"{name} is {text[:20]!r}, which is too large")
    return number


def _ids(text: str) -> list[int]:
    parts = text.split()
    if not 1 <= len(parts) <= MOST_PICKS_PER_TOKEN:
        raise ValueError(f"{len(parts)} ids")
    found = [_number({"id": each}, "id") for each in parts]
    if max(found) >= MOST_EXPERTS:
        raise ValueError(f"id {max(found)}, and there are {MOST_EXPERTS} experts at most")
    return found
