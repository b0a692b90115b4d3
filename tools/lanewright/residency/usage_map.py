"""Reads a usage map back, and writes it as a worker reads it.

A lane's Python has no Parquet, so the file that a worker boots from is JSON: ``schema`` (1),
``model`` (hash of what was served) and ``layers`` (picks of each expert, by the layer's name).
``expert_bank.usage_file`` reads it.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanewright.errors import LanewrightError

SCHEMA = 1
COLUMNS = ("layer", "expert", "count")
MOST_ROWS = 2**22
MOST_PICKS = 2**63 - 1
WRITTEN = (
    "a boot with moe_usage_counter writes one; of a running server: lanewright usage --out FILE"
)


@dataclass(frozen=True)
class UsageMap:
    """How often each expert was picked.

    Attributes:
        model: Hash of the model that was served.
        layers: Picks of each expert, by the layer's name, in the model's order.
    """

    model: str
    layers: dict[str, list[int]]

    def text(self) -> str:
        """Write it as a worker reads it: JSON in ASCII, one line."""
        document = {"schema": SCHEMA, "model": self.model, "layers": self.layers}
        return json.dumps(document) + "\n"


def read_usage_map(path: Path) -> UsageMap:
    """Read what ``serve.usage.write_usage`` wrote.

    Args:
        path: A Parquet file of layer, expert and count, with ``model`` and ``layers`` in its
            metadata.

    Raises:
        LanewrightError: There is no such file, or it is no usage map.
    """
    import pyarrow as pa  # noqa: PLC0415 - 100 ms that other commands need not pay
    from pyarrow import parquet  # noqa: PLC0415 - the same

    try:
        if not path.is_file():
            raise LanewrightError(f"usage map {path}: there is no such file", hint=WRITTEN)
        with parquet.ParquetFile(path) as file:
            metadata = file.schema_arrow.metadata or {}
            if file.metadata.num_rows > MOST_ROWS:
                raise _bad(path, f"it has more than {MOST_ROWS} rows")
            if missing := [name for name in COLUMNS if name not in file.schema_arrow.names]:
                raise _bad(path, f"it lacks {', '.join(missing)}")
            columns = file.read(columns=list(COLUMNS)).to_pydict()
    except (OSError, pa.ArrowException) as error:
        raise _bad(path, f"it cannot be read as Parquet: {error}") from error
    model, names = _told(path, metadata)
    rows = zip(*(columns[name] for name in COLUMNS), strict=True)
    return UsageMap(model, dict(zip(names, _table(path, len(names), rows), strict=True)))


def _told(path: Path, metadata: dict[bytes, bytes]) -> tuple[str, list[str]]:
    """The model's hash and the layers' names, from a file's metadata."""
    try:
        model, names = metadata[b"model"].decode(), json.loads(metadata[b"layers"])
    except KeyError as error:
        raise _bad(path, f"its metadata lacks {error.args[0].decode()}") from error
    except (ValueError, RecursionError) as error:
        raise _bad(path, f"its metadata cannot be read: {error}") from error
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _bad(path, "its metadata names no layers")
    if not names or len(set(names)) != len(names):
        raise _bad(path, "its metadata names no layer, or one of them twice")
    return model, names


def _table(path: Path, layers: int, rows: Iterable[tuple[Any, Any, Any]]) -> list[list[int]]:
    """Picks by layer and expert, each of which must be there once."""
    found: list[dict[int, int]] = [{} for _ in range(layers)]
    for layer, expert, count in rows:
        if not all(type(number) is int for number in (layer, expert, count)):
            raise _bad(path, f"no whole numbers in row ({layer}, {expert}, {count})")
        if not 0 <= layer < layers or not 0 <= count <= MOST_PICKS:
            raise _bad(path, f"({layer}, {expert}, {count}) is no layer, or no count")
        if expert in found[layer]:
            raise _bad(path, f"layer {layer} has expert {expert} twice")
        found[layer][expert] = count
    for layer, counts in enumerate(found):
        if not counts or sorted(counts) != list(range(len(counts))):
            raise _bad(path, f"layer {layer} lacks experts")
    return [[counts[expert] for expert in range(len(counts))] for counts in found]


def _bad(path: Path, what: str) -> LanewrightError:
    return LanewrightError(f"{path} is no usage map: {what}", hint=WRITTEN)
