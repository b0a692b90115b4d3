"""The form of a trace's file: its columns, and its header.

A row is one token in one MoE layer, tokens in order and each with its layers in order: ``forward``,
``request``, ``position`` (int64), ``phase`` (uint8), ``accepted`` (bool), ``layer`` (uint16),
``ids`` (k uint16) and, where they were kept, ``weights`` (k float32) and ``hidden`` (h float16). What
repeats from row to row takes next to no room in Parquet; a pick takes one or two bytes.

The header is the schema's metadata, all text: ``schema`` (1), ``model`` (hash), ``layers`` (names
by number, as JSON), ``experts``, ``picks_per_token``, ``tokens``, ``phases`` (as JSON) and, where
hidden states were kept, ``hidden_size`` (h).
"""

import json
from dataclasses import dataclass
from typing import Any

from lanewright.residency.trace_file.recorded import MOST_EXPERTS, PHASES, Recorded

SCHEMA = 1
HIDDEN_SIZE = "hidden_size"
MOST_LAYERS = 4096
MOST_PICKS_PER_TOKEN = 256
# Two GiB of ids; more is more than one process should read at once.
MOST_PICKS = 2**30
MOST_TOKENS = 2**26
MOST_HIDDEN = 2**16
# Four GiB of hidden states.
MOST_STATES = 2**31
TOKEN_TYPES = {
    "forward": "int64",
    "request": "int64",
    "position": "int64",
    "phase": "uint8",
    "accepted": "bool",
}


@dataclass(frozen=True)
class Header:
    """What a file says of itself.

    Attributes:
        model: Hash of the model that was served.
        layers: Names of the MoE layers.
        experts: E.
        picks: k.
        tokens: T.
        hidden: h; 0 where no hidden states were kept.
    """

    model: str
    layers: tuple[str, ...]
    experts: int
    picks: int
    tokens: int
    hidden: int = 0

    @classmethod
    def of(cls, found: Recorded) -> "Header":
        """Give the header of a trace."""
        return cls(
            found.model, found.layers, found.experts, found.picks, found.tokens, found.hidden_size
        )

    def metadata(self) -> dict[str, str]:
        """Write it as metadata of a schema."""
        return {
            "schema": str(SCHEMA),
            "model": self.model,
            "layers": json.dumps(list(self.layers)),
            "experts": str(self.experts),
            "picks_per_token": str(self.picks),
            "tokens": str(self.tokens),
            "phases": json.dumps(list(PHASES)),
            **({HIDDEN_SIZE: str(self.hidden)} if self.hidden else {}),
        }


def read_header(metadata: dict[bytes, bytes]) -> Header:
    """Read metadata.

    Raises:
        ValueError: Something is missing, of another schema, or out of range.
    """
    try:
        told = {name: metadata[name.encode()].decode() for name in _NAMES}
    except KeyError as error:
        raise ValueError(f"its metadata lacks {error.args[0].decode()}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"its metadata cannot be read: {error}") from error
    if told["schema"] != str(SCHEMA):
        raise ValueError(f"it is of schema {told['schema'][:20]!r}, and this reads {SCHEMA}")
    if _names(told, "phases") != PHASES:
        raise ValueError(f"its phases are not {', '.join(PHASES)}")
    layers = _names(told, "layers")
    if not 1 <= len(layers) <= MOST_LAYERS or len(set(layers)) != len(layers):
        raise ValueError("its metadata names no layer, one of them twice, or too many")
    experts = _number(told, "experts", 1, MOST_EXPERTS)
    picks = _number(told, "picks_per_token", 1, min(experts, MOST_PICKS_PER_TOKEN))
    tokens = _number(told, "tokens", 0, min(MOST_TOKENS, MOST_PICKS // (picks * len(layers))))
    hidden = 0
    if (size := metadata.get(HIDDEN_SIZE.encode())) is not None:
        most = min(MOST_HIDDEN, MOST_STATES // max(1, tokens * len(layers)))
        hidden = _number({HIDDEN_SIZE: size.decode(errors="replace")}, HIDDEN_SIZE, 1, most)
    return Header(told["model"], layers, experts, picks, tokens, hidden)


def columns(picks: int, *, weights: bool, hidden: int = 0) -> Any:  # noqa: ANN401 - pyarrow is untyped
    """Give the columns as a ``pyarrow.Schema`` without metadata.

    Args:
        picks: k.
        weights: Whether they were kept.
        hidden: h; 0 where no hidden states were kept.
    """
    import pyarrow as pa  # noqa: PLC0415 - 100 ms that other commands need not pay

    fields = [
        pa.field(name, pa.type_for_alias(kind), nullable=False)
        for name, kind in TOKEN_TYPES.items()
    ]
    fields.append(pa.field("layer", pa.uint16(), nullable=False))
    lists = {"ids": (pa.uint16(), picks)}
    if weights:
        lists["weights"] = (pa.float32(), picks)
    if hidden:
        lists["hidden"] = (pa.float16(), hidden)
    for name, (kind, length) in lists.items():
        several = pa.list_(pa.field("element", kind, nullable=False), length)
        fields.append(pa.field(name, several, nullable=False))
    return pa.schema(fields)


_NAMES = tuple(Header("", (), 0, 0, 0).metadata())


def _names(told: dict[str, str], key: str) -> tuple[str, ...]:
    try:
        found = json.loads(told[key])
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its metadata cannot be read: {key}: {error}") from error
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise ValueError(f"its metadata has {key} that are no names")
    return tuple(found)


def _number(told: dict[str, str], key: str, least: int, most: int) -> int:
    text = told[key]
    plain = text.isascii() and text.isdigit() and len(text) <= len(str(MOST_PICKS))
    if not plain or not least <= int(text) <= most:
        raise ValueError(f"its {key} is {text[:20]!r}, and must be {least} to {most}")
    return int(text)
