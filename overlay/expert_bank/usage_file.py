# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Usage counts from a file, as a worker reads them: JSON, for its Python has no Parquet.

The file is an object: ``schema`` (1), ``model`` (hash or name of what was served; may be left out) and
``layers`` (picks of each expert, by the layer's name). ``lanewright residency map`` writes it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from expert_bank.model_name import same_model
from expert_bank.refused import Refused

SCHEMA = 1
MOST_BYTES = 2**26
MOST_PICKS = 2**63 - 1
MOST_SHOWN = 72


@dataclass(frozen=True)
class UsageFile:
    """What a file holds for a model.

    Attributes:
        counts: int64[E] for each layer that was asked for, in that order.
        whose: What could not be compared of the model that was counted; empty where it is the
            one that is served.
    """

    counts: list[NDArray[np.int64]]
    whose: str


def read_usage_file(path: Path, layers: Mapping[str, int], *, served: str) -> UsageFile:
    """Read how often each expert was picked.

    Args:
        path: What ``lanewright residency map --out`` wrote.
        layers: E of each layer that is asked for, by name; a file may hold more, such as those of
            other pipeline stages.
        served: Name or folder of the model that is served, as vLLM has it.

    Raises:
        Refused: The file cannot be read, is of another form or model, lacks a layer, or has one
            whose counts are not E whole numbers from 0 to 2**63 - 1.
    """
    whole = _document(path)
    schema = whole.get("schema")
    if type(schema) is not int or schema != SCHEMA:
        raise _bad(path, f"its schema is {_short(schema)}, and this reads {SCHEMA}")
    found, of = whole.get("layers"), whole.get("model")
    if not isinstance(found, dict) or not isinstance(of, str | None):
        raise _bad(path, "it lacks the layers, or its model is no name")
    same = None if of is None else same_model(of, served)
    if same is False:
        raise _bad(path, f"it is of model {_short(of)}, and {served!a} is served")
    counts = [_counts(path, found, name, experts) for name, experts in layers.items()]
    if same:
        return UsageFile(counts, "")
    what = "names no model" if of is None else f"is of model {_short(of)}"
    return UsageFile(counts, f"usage file {path} {what}; whether that is {served!a} is not known")


def _document(path: Path) -> dict[str, Any]:
    """Read a JSON object in which no key comes twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(keys := dict(pairs)) != len(pairs):
            raise ValueError("a key comes twice")
        return keys

    def no_number(name: str) -> NoReturn:
        raise ValueError(f"{name} is no number")

    try:
        if not path.is_file():
            raise _bad(path, "there is no such file")
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise _bad(path, f"it has more than {MOST_BYTES} bytes")
        whole = json.loads(content, object_pairs_hook=once, parse_constant=no_number)
    except (OSError, ValueError, RecursionError) as error:
        raise _bad(path, f"it cannot be read as JSON: {error}") from error
    if not isinstance(whole, dict):
        raise _bad(path, "it is no JSON object")
    return whole


def _counts(path: Path, found: Mapping[str, Any], name: str, experts: int) -> NDArray[np.int64]:
    """Check a layer's counts."""
    if name not in found:
        raise _bad(path, f"layer {name!r} is not in it; it has {_some(found)}")
    counts = found[name]
    if not isinstance(counts, list) or len(counts) != experts:
        has = f"{len(counts)} counts" if isinstance(counts, list) else "no list of counts"
        raise _bad(path, f"layer {name!r} has {has} for {experts} experts")
    for expert, count in enumerate(counts):
        if type(count) is not int or not 0 <= count <= MOST_PICKS:
            raise _bad(path, f"layer {name!r}, expert {expert}: {_short(count)} is no count")
    return np.array(counts, np.int64)


def _some(names: Mapping[str, Any]) -> str:
    """Name a few of the layers that a file has."""
    first = ", ".join(_short(name) for name in list(names)[:3]) or "none"
    return first if len(names) <= 3 else f"{first} and {len(names) - 3} more"  # noqa: PLR2004 - the few


def _short(value: object) -> str:
    """Write a value of a file on one line, cut where it is long."""
    text = ascii(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def _bad(path: Path, what: str) -> Refused:
    return Refused(
        f"moe_boot_map: usage file {path}: {what}",
        hint="make it of this model's usage map with"
        " `lanewright residency map USAGE.parquet --out FILE`",
    )
