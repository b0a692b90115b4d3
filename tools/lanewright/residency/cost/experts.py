"""The routed experts that a checkpoint's ``config.json`` describes."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanewright.errors import LanewrightError
from lanewright.residency.cost.families import Shape, shape
from lanewright.residency.cost.layout import layout
from lanewright.store.regular import read_regular

MOST_BYTES = 10_000_000


@dataclass(frozen=True)
class Experts:
    """Routed experts of a checkpoint, all MoE layers alike.

    Attributes:
        name: Of the file's folder, or what the file says.
        row_is: How the weights are kept.
        layers: MoE layers.
        experts: Of each.
        picks: Experts that a token gets.
        row: Bytes of one expert in the engine, its scales among them.
    """

    name: str
    row_is: str
    layers: int
    experts: int
    picks: int
    row: int


def read_experts(file: Path) -> Experts:
    """Read a checkpoint's ``config.json``.

    Raises:
        LanewrightError: It cannot be read, or is of a family or a quantization that is not known.
    """
    config = _read(file)
    found: Shape = shape(config, file)
    kept = layout(config, found, file)
    name = config.get("_name_or_path")
    return Experts(
        name=name if isinstance(name, str) and name else file.absolute().parent.name,
        row_is=kept.told,
        layers=found.layers,
        experts=found.experts,
        picks=found.picks,
        row=kept.bytes_of(found),
    )


def _read(file: Path) -> dict[str, Any]:
    # The hub's cache has links to blobs.
    content = read_regular(file.resolve(), MOST_BYTES)
    if content is None:
        raise LanewrightError(
            f"cannot read {file}: it is no file, or larger than any config.json",
            hint="give a checkpoint's config.json, as in --config Qwen3-30B-A3B/config.json",
        )
    try:
        config = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise LanewrightError(f"{file} is no valid JSON: {error}") from error
    if not isinstance(config, dict):
        raise LanewrightError(f"{file} is no checkpoint's config: it is no object")
    return config
