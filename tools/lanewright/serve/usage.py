"""Usage maps: how often each expert of each layer was picked, as Parquet."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from lanewright.errors import LanewrightError
from lanewright.store.atomic import replace_file

Usage = Sequence[Mapping[str, Any] | None]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class WorkerUsage(msgspec.Struct, frozen=True):
    """What a worker answers to ``expert_bank_usage``.

    Attributes:
        model: What is served.
        layers: L names.
        picks_per_token: How many experts a token gets.
        tokens: Scheduled since start.
        counts: [L][E] picks since start.
    """

    model: str
    layers: list[str]
    picks_per_token: Count
    tokens: Count
    counts: list[Annotated[list[Count], msgspec.Meta(min_length=1)]]

    def __post_init__(self) -> None:
        if len(self.layers) != len(self.counts) or len({len(row) for row in self.counts}) != 1:
            raise ValueError("its counts are no table of layers and experts")


def read_usage(answer: object) -> list[dict[str, Any] | None]:
    """Check what a server says that its workers answered.

    Raises:
        msgspec.ValidationError: It is something else.
    """
    workers = msgspec.convert(answer, list[WorkerUsage | None])
    return [msgspec.to_builtins(worker) if worker else None for worker in workers]


def usage_map(usage: Usage) -> dict[str, list[int]]:
    """Picks of each expert by layer, L x E, in the model's order.

    Workers that share a layer count the same picks; the first one's are taken.

    Args:
        usage: ``expert_bank_usage`` of each worker; None where one does not count.
    """
    layers: dict[str, list[int]] = {}
    for worker in filter(None, usage):
        for name, counts in zip(worker["layers"], worker["counts"], strict=True):
            layers.setdefault(name, counts)
    return layers


def usage_lines(layers: Mapping[str, Sequence[int]]) -> Iterator[str]:
    """Tell each layer's picks: how many, and the expert that got most of them.

    Args:
        layers: Picks of each expert, by the layer's name.
    """
    for layer, counts in layers.items():
        name = layer if layer.isprintable() else ascii(layer)
        picks, most, unused = sum(counts), max(counts), counts.count(0)
        share = f"{most / picks:.1%} by expert {counts.index(most)}" if picks else "none yet"
        yield f"{name}: {picks} picks of {len(counts)} experts, {share}; {unused} never picked"


def write_usage(target: Path, usage: Usage, *, model: str) -> Path | None:
    """Write a usage map: layer int32, expert int32, count int64; L x E rows.

    Its metadata has ``model`` (hash), ``layers`` (names by number, as JSON), ``tokens`` and
    ``picks_per_token``.

    Args:
        target: File to write, whole or not at all.
        usage: ``expert_bank_usage`` of each worker.
        model: Hash of the model that was served.

    Returns:
        The file, or None where nothing counts.

    Raises:
        LanewrightError: The file cannot be written.
    """
    counting = [worker for worker in usage if worker]
    if not counting:
        return None
    import pyarrow as pa  # noqa: PLC0415 - 100 ms that a run without a counter need not pay
    from pyarrow import parquet  # noqa: PLC0415 - the same

    layers = usage_map(usage)
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
    try:
        replace_file(target, sink.getvalue().to_pybytes())
    except OSError as error:
        raise LanewrightError(f"cannot write {target}: {error.strerror}") from error
    return target
