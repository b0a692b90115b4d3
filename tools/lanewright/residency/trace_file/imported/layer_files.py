"""Parquet, a file a layer: the routing traces of FLAME-MoE (CMU-FLAME/FLAME-MoE-Traces).

A row is a token; ``indices`` lists its experts and ``scores`` their probabilities, both as lists of k.
Rows of all files are aligned. It was captured in training, so all tokens were computed as prompts are.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewright.residency.trace_file.form import MOST_PICKS
from lanewright.residency.trace_file.imported.source import Said, whole
from lanewright.residency.trace_file.recorded import Recorded

IDS, WEIGHTS = "indices", "scores"


def read_layer_files(files: list[Path], said: Said) -> Recorded:
    """Read a file for each layer, in the order in which they are named.

    Raises:
        ValueError: One is none, or they do not go together; it is named.
    """
    read = [_layer(file) for file in files]
    tokens = {len(ids) for ids, _ in read}
    if len(tokens) > 1:
        raise ValueError(f"layers of {sorted(tokens)} tokens: rows must be aligned")
    ids = np.stack([each for each, _ in read], axis=1)
    weighted = [each for _, each in read if each is not None]
    weights = np.stack(weighted, axis=1) if len(weighted) == len(read) else None
    (many,) = tokens
    length = said.length or max(1, many)
    cuts = [*range(length, many, length)]
    return whole(np.split(ids, cuts), said, None if weights is None else np.split(weights, cuts))


def _layer(file: Path) -> tuple[NDArray[np.integer], NDArray[np.floating] | None]:
    import pyarrow as pa  # noqa: PLC0415 - 100 ms that other commands need not pay
    from pyarrow import parquet  # noqa: PLC0415 - the same

    try:
        with parquet.ParquetFile(file) as opened:
            names = opened.schema_arrow.names
            if IDS not in names:
                raise ValueError(f"{file}: it has no column {IDS}")
            if opened.metadata.num_rows > MOST_PICKS:
                raise ValueError(f"{file}: it has {opened.metadata.num_rows} rows")
            wanted = [IDS, *([WEIGHTS] if WEIGHTS in names else [])]
            table = opened.read(columns=wanted, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{file}: it cannot be read as Parquet: {error}") from error
    ids = _lists(file, table, IDS)
    if not np.issubdtype(ids.dtype, np.integer):
        raise ValueError(f"{file}: its {IDS} are {ids.dtype}")
    weights = _lists(file, table, WEIGHTS) if WEIGHTS in names else None
    if weights is not None and weights.shape != ids.shape:
        raise ValueError(f"{file}: {list(weights.shape)} {WEIGHTS} of {list(ids.shape)} {IDS}")
    return ids, weights


def _lists(file: Path, table: Any, name: str) -> NDArray[Any]:  # noqa: ANN401 - pyarrow is untyped
    """Read lists of one length, [T, k]."""
    column = table.column(name).combine_chunks()
    flat: NDArray[Any]
    if not hasattr(column, "flatten") or column.null_count:
        raise ValueError(f"{file}: its {name} are no lists, or lack some")
    try:
        flat = column.flatten().to_numpy(zero_copy_only=False)
        lengths = {int(each) for each in np.unique(column.value_lengths().to_numpy())}
    except (AttributeError, ValueError, TypeError) as error:
        raise ValueError(f"{file}: its {name} are no lists of numbers") from error
    if len(lengths) > 1 or not np.issubdtype(flat.dtype, np.number):
        raise ValueError(f"{file}: its {name} are lists of {sorted(lengths)} {flat.dtype}")
    return flat.reshape(len(column), -1)
