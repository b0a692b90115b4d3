# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The file through which a worker tells how its map does; readers find it whole, old or new.

The standard library alone: a server's process for metrics and ``lanewright residency top`` read it.
"""

import json
import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from expert_bank.refused import Refused
from expert_bank.stats_left import beside

SCHEMA = 2
MOST_BYTES = 2**24
# Two sums of the same numbers may differ in their last bits.
MOST_SHARE = 1 + 2**-20
HINT = (
    "start the server on this version with EXPERT_BANK_STATS=FILE and --moe-hot-experts, or ask it"
    " by --port"
)


def _count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _number(value: object) -> bool:
    return type(value) in (int, float) and 0 <= value < 2**63  # type: ignore[operator]


def _share(value: object) -> bool:
    return value is None or (_number(value) and value <= MOST_SHARE)  # type: ignore[operator]


def _difference(value: object) -> bool:
    return value is None or (type(value) in (int, float) and abs(value) <= MOST_SHARE)  # type: ignore[arg-type]


def _text(value: object) -> bool:
    # A lone surrogate is in no encoding.
    return isinstance(value, str) and not any("\ud800" <= each <= "\udfff" for each in value)


def _switch(value: object) -> bool:
    return type(value) is bool


LAYER: dict[str, Any] = {
    "name": _text,
    **dict.fromkeys(("experts", "hot_rows", "hot_experts", "row_bytes"), _count),
    **dict.fromkeys(("hot_picks", "cold_picks", "swaps"), _count),
    "cold": dict.fromkeys(("late", "boot", "oracle"), _share),
}
STAGING: dict[str, Any] = {
    **dict.fromkeys(("steps", "tokens", "rows", "bytes", "late", "failed"), _count),
    "refused": dict.fromkeys(
        ("decode", "switched_off", "captured", "below_threshold", "failed", "unfilled"), _count
    ),
    "least_tokens": (_count, None),
    "on": _switch,
}
# What there must be; a file may hold more.
SHAPE: dict[str, Any] = {
    "schema": _count,
    "time": _number,
    "started": (_text, None),
    **dict.fromkeys(("server", "model", "served_as", "state"), _text),
    **dict.fromkeys(("pid", "engine", "every", "forwards", "tokens", "picks_per_token"), _count),
    "cold": dict.fromkeys(("so_far", "late", "boot", "oracle", "null"), _share),
    "regret": {"late": _difference, "served": _count, "oracle": _count},
    "swapping": {
        **dict.fromkeys(("barriers", "swaps", "failed", "cut", "waiting", "bytes"), _count),
        "seconds": _number,
    },
    "decisions": _count,
    **dict.fromkeys(("deciding_seconds", "following_drain_seconds"), _number),
    "frozen": _switch,
    "guard": {"trusted": (_switch, None), "fallbacks": _count, "returns": _count},
    "staging": (STAGING, None),
    "layers": [LAYER],
}


def write_stats(path: Path, stats: Mapping[str, Any]) -> None:
    """Put stats in the place of a file, in one step.

    Args:
        path: The file; its folder must be there.
        stats: Of ``stats.snapshot``.

    Raises:
        OSError: It cannot be written, or is no regular file; the old one stays.
    """
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        raise OSError(f"{path} is no regular file")
    half = beside(path, os.getpid())
    # Of a process that was killed and had this number.
    half.unlink(missing_ok=True)
    try:
        with half.open("x", encoding="ascii") as stream:
            json.dump(stats, stream, allow_nan=False)
        half.replace(path)
    except BaseException:
        with suppress(OSError):
            half.unlink()
        raise


def remove_stats(path: Path) -> None:
    """Remove a file of stats that will never be right again; what is no regular file stays."""
    with suppress(OSError):
        if stat.S_ISREG(path.lstat().st_mode):
            path.unlink()


def read_stats(path: Path, *, model: str | None = None) -> dict[str, Any]:
    """Read what a worker wrote.

    Args:
        path: The file.
        model: That it must be of, if any.

    Raises:
        Refused: There is none, it cannot be read, is none of ours, of another version, or of
            another model.
    """
    try:
        # Not to wait for who might write into a pipe.
        with open(path, "rb", opener=_at_once) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise _bad(path, "it is no regular file")
            content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise _bad(path, f"it has more than {MOST_BYTES} bytes")
        stats = json.loads(content, parse_constant=_no_number)
    except FileNotFoundError as error:
        raise _bad(path, "there is no such file") from error
    except (OSError, ValueError, RecursionError) as error:
        raise _bad(path, f"it cannot be read as JSON: {error}") from error
    try:
        return checked(stats, model=model)
    except Refused as error:
        raise _bad(path, error.message) from error


def _at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def checked(stats: object, *, model: str | None = None) -> dict[str, Any]:
    """Check stats that came from elsewhere.

    Raises:
        Refused: They are none, of another version, or of another model than the one named.
    """
    if not isinstance(stats, dict):
        raise Refused("it is no JSON object", hint=HINT)
    schema = stats.get("schema")
    if type(schema) is not int or schema != SCHEMA:
        raise Refused(f"its schema is {ascii(schema)[:40]}, and this reads {SCHEMA}", hint=HINT)
    # Stats of before they were told are without them.
    if wrong := _misfit({"started": None, "staging": None, **stats}, SHAPE, ""):
        raise Refused(f"{wrong} is missing, or not what it must be", hint=HINT)
    if model is not None and stats["model"] != model:
        raise Refused(f"it is of model {stats['model']!a}, and not of {model!a}", hint=HINT)
    return stats


def _misfit(value: object, shape: object, where: str) -> str:
    """Name the first part of a value that is not as a shape has it; empty where all is."""
    match shape:
        case dict():
            if not isinstance(value, dict):
                return where or "the whole"
            parts = ((value.get(key, ...), each, f"{where}.{key}") for key, each in shape.items())
            return next(filter(None, (_misfit(*part) for part in parts)), "").removeprefix(".")
        case [each]:
            if not isinstance(value, list) or not value:
                return where
            found = (_misfit(part, each, f"{where}[{at}]") for at, part in enumerate(value))
            return next(filter(None, found), "")
        case (each, None):
            return "" if value is None else _misfit(value, each, where)
    fits: Callable[[object], bool] = shape  # type: ignore[assignment]
    return "" if fits(value) else where


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _bad(path: Path, what: str) -> Refused:
    return Refused(f"stats file {path}: {what}", hint=HINT)
