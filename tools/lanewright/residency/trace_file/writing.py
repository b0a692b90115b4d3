"""Writes a trace's file, whole or not at all."""

from pathlib import Path
from typing import Any

import numpy as np

from lanewright.errors import LanewrightError
from lanewright.residency.trace_file.form import (
    MOST_PICKS,
    MOST_STATES,
    MOST_TOKENS,
    Header,
    columns,
)
from lanewright.residency.trace_file.recorded import TOKEN_COLUMNS, Recorded, require_recorded
from lanewright.store.atomic import replace_file

# Rows that a reader has in memory at once beside the trace.
GROUP_ROWS = 2**18


def write_trace(target: Path, found: Recorded) -> None:
    """Write a trace.

    Args:
        target: The file; an old one is replaced in one step.
        found: The trace.

    Raises:
        LanewrightError: The file cannot be written.
        ValueError: The trace is none, or has more picks than a file may.
    """
    require_recorded(found)
    if found.ids.size > MOST_PICKS or found.tokens > MOST_TOKENS:
        raise ValueError(
            f"{found.ids.size} picks of {found.tokens} tokens are more than a file has:"
            f" {MOST_PICKS} of {MOST_TOKENS}"
        )
    if found.hidden is not None and found.hidden.size > MOST_STATES:
        raise ValueError(
            f"{found.hidden.size} hidden numbers are more than a file has: {MOST_STATES}"
        )
    import pyarrow as pa  # noqa: PLC0415 - 100 ms that other commands need not pay
    from pyarrow import parquet  # noqa: PLC0415 - the same

    schema = columns(found.picks, weights=found.weights is not None, hidden=found.hidden_size)
    schema = schema.with_metadata(Header.of(found).metadata())
    table = pa.Table.from_arrays(_arrays(found, schema), schema=schema)
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd", row_group_size=GROUP_ROWS)
    try:
        replace_file(target, sink.getvalue().to_pybytes())
    except OSError as error:
        raise LanewrightError(f"cannot write {target}: {error.strerror}") from error


def _arrays(found: Recorded, schema: Any) -> list[Any]:  # noqa: ANN401 - pyarrow is untyped
    import pyarrow as pa  # noqa: PLC0415 - see above

    layers = len(found.layers)
    arrays = [pa.array(np.repeat(getattr(found, name), layers)) for name in TOKEN_COLUMNS]
    arrays.append(pa.array(np.tile(np.arange(layers, dtype=np.uint16), found.tokens)))
    for name in ("ids", "weights", "hidden"):
        if (several := getattr(found, name)) is not None:
            flat = pa.array(np.ascontiguousarray(several).ravel())
            arrays.append(pa.FixedSizeListArray.from_arrays(flat, type=schema.field(name).type))
    return arrays
