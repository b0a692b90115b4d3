"""Reads a trace's file with no trust in it."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanewright.errors import LanewrightError
from lanewright.residency.trace_file.form import Header, columns, read_header
from lanewright.residency.trace_file.recorded import TOKEN_COLUMNS, Recorded, require_recorded

HINT = "docs/replay.md tells the form of a trace, and lanewright.residency.trace_file writes it"
AT_ONCE = 2**16


def read_trace(path: Path) -> Recorded:
    """Read what ``writing.write_trace`` wrote.

    Memory is taken by what the header says, once it is within bounds; rows are decoded in parts.

    Raises:
        LanewrightError: There is no such file, or it is no trace.
    """
    import pyarrow as pa  # noqa: PLC0415 - 100 ms that other commands need not pay
    from pyarrow import parquet  # noqa: PLC0415 - the same

    try:
        if not path.is_file():
            raise LanewrightError(f"trace {path}: there is no such file", hint=HINT)
        with parquet.ParquetFile(path) as file:
            header = read_header(file.schema_arrow.metadata or {})
            weighted = _require_columns(file.schema_arrow, header)
            found = _filled(file, header, weighted=weighted)
        require_recorded(found)
    except (OSError, pa.ArrowException) as error:
        raise _bad(path, f"it cannot be read as Parquet: {error}") from error
    except ValueError as error:
        raise _bad(path, str(error)) from error
    return found


def _require_columns(schema: Any, header: Header) -> bool:  # noqa: ANN401 - pyarrow is untyped
    """Refuse other columns; whether there are weights."""
    weighted = "weights" in schema.names
    wanted = columns(header.picks, weights=weighted, hidden=header.hidden)
    if sorted(schema.names) != sorted(wanted.names):
        raise ValueError(f"its columns are not {', '.join(wanted.names)}")
    for field in wanted:
        # Whether nulls may be there is another tool's to say; that none is, is looked at below.
        if not _alike(schema.field(field.name).type, field.type):
            raise ValueError(
                f"its {field.name} is {schema.field(field.name).type}, and must be {field.type}"
            )
    return weighted


def _alike(found: Any, wanted: Any) -> bool:  # noqa: ANN401 - pyarrow is untyped
    import pyarrow as pa  # noqa: PLC0415 - see above

    if not pa.types.is_fixed_size_list(wanted):
        return bool(found == wanted)
    if not pa.types.is_fixed_size_list(found):
        return False
    return bool((found.list_size, found.value_type) == (wanted.list_size, wanted.value_type))


def _filled(file: Any, header: Header, *, weighted: bool) -> Recorded:  # noqa: ANN401 - pyarrow is untyped
    layers = len(header.layers)
    rows = header.tokens * layers
    if file.metadata.num_rows != rows:
        raise ValueError(
            f"it has {file.metadata.num_rows} rows, and {header.tokens} tokens of"
            f" {layers} layers are {rows}"
        )
    tokens = {name: np.empty(header.tokens, dtype) for name, dtype in TOKEN_COLUMNS.items()}
    lists = _lists(header, rows, weighted=weighted)
    start = 0
    for batch in file.iter_batches(batch_size=AT_ONCE, use_threads=False):
        stop = start + batch.num_rows
        if stop > rows:
            raise ValueError("it has more rows than it says")
        token, layer = np.divmod(np.arange(start, stop), layers)
        if (_numbers(batch, "layer") != layer).any():
            raise ValueError("a token lacks a layer, or has its layers out of order")
        for name, column in tokens.items():
            told = _numbers(batch, name)
            column[token[layer == 0]] = told[layer == 0]
            if (told != column[token]).any():
                raise ValueError(f"a token's {name} differs from layer to layer")
        for name, several in lists.items():
            several[start:stop] = _numbers(batch, name).reshape(batch.num_rows, -1)
        start = stop
    if start != rows:
        raise ValueError(f"it has {start} rows, and says {rows}")
    shaped: dict[str, NDArray[Any]] = {
        name: several.reshape(header.tokens, layers, several.shape[1])
        for name, several in lists.items()
    }
    return Recorded(
        model=header.model,
        layers=header.layers,
        experts=header.experts,
        **shaped,
        **tokens,
    )


def _lists(header: Header, rows: int, *, weighted: bool) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {"ids": np.empty((rows, header.picks), np.uint16)}
    if weighted:
        found["weights"] = np.empty((rows, header.picks), np.float32)
    if header.hidden:
        found["hidden"] = np.empty((rows, header.hidden), np.float16)
    return found


def _numbers(batch: Any, name: str) -> NDArray[Any]:  # noqa: ANN401 - pyarrow is untyped
    column = batch.column(name)
    flat = column.flatten() if name in ("ids", "weights", "hidden") else column
    if column.null_count or flat.null_count:
        raise ValueError(f"its {name} has nulls")
    numbers: NDArray[Any] = flat.to_numpy(zero_copy_only=False)
    return numbers


def _bad(path: Path, what: str) -> LanewrightError:
    return LanewrightError(f"{path} is no trace: {what}", hint=HINT)
