"""Usage maps: how often each expert of each layer was picked, as Parquet."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lanewright.errors import LanewrightError
from lanewright.store.atomic import replace_file


def write_usage(
    folder: Path, usage: Sequence[Mapping[str, Any] | None], *, model: str
) -> str | None:
    """Write ``usage.parquet``: layer int32, expert int32, count int64; L x E rows.

    Its metadata has ``model`` (hash), ``layers`` (names by number, as JSON), ``tokens`` and
    ``picks_per_token``. Workers that share a layer count the same picks; the first one's are taken.

    Args:
        folder: Of the run.
        usage: ``expert_bank_usage`` of each worker.
        model: Hash of the model that was served.

    Returns:
        The file's name, or None where nothing was counted.

    Raises:
        LanewrightError: The file cannot be written.
    """
    counting = [worker for worker in usage if worker]
    if not counting:
        return None
    import pyarrow as pa  # noqa: PLC0415 - 100 ms that a run without a counter need not pay
    from pyarrow import parquet  # noqa: PLC0415 - the same

    layers: dict[str, list[int]] = {}
    for worker in counting:
        for name, counts in zip(worker["layers"], worker["counts"], strict=True):
            layers.setdefault(name, counts)
    rows = [
        (layer, expert, count)
        for layer, counts in enumerate(layers.values())
        for expert, count in enumerate(counts)
    ]
    schema = pa.schema(
        [("layer", pa.int32()), ("expert", pa.int32()), ("count", pa.int64())],
        metadata={
            "model": model,
            "layers": json.dumps(list(layers)),
            "tokens": str(counting[0]["tokens"]),
            "picks_per_token": str(counting[0]["picks_per_token"]),
        },
    )
    columns = [list(column) for column in zip(*rows, strict=True)]
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table(columns, schema=schema), sink)
    target = folder / "usage.parquet"
    try:
        replace_file(target, sink.getvalue().to_pybytes())
    except OSError as error:
        raise LanewrightError(f"cannot write {target}: {error.strerror}") from error
    return target.name
