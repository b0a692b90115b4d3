"""Up to how many tokens a step is replayed from a graph, as far as a lane says it."""

import json
from collections.abc import Mapping
from typing import Any

from lanewright.errors import LanewrightError
from lanewright.queue.series import Series

MOST = "max_cudagraph_capture_size"
SIZES = "cudagraph_capture_sizes"
STEP = "max_num_batched_tokens"


def graph_tokens(series: Series, engine: Mapping[str, Any]) -> int | None:
    """Tell it by the engine arguments where they say it, else by ``[machine]``.

    Args:
        series: The lane's.
        engine: Its engine arguments, or others.

    Returns:
        Tokens; 0 where no graph is replayed, None where that is not known.

    Raises:
        LanewrightError: The compilation config is no JSON, or what must be a number of tokens is none.
    """
    if series.device == "cpu" or engine.get("enforce_eager"):
        return 0
    compilation = engine.get("compilation_config") or {}
    if isinstance(compilation, str):
        try:
            compilation = json.loads(compilation)
        except ValueError as error:
            raise LanewrightError(
                f"[engine] compilation_config is no JSON: {error}",
                hint='write a table, or JSON: {"max_cudagraph_capture_size": 512}',
            ) from error
    if isinstance(compilation, Mapping):
        mode = compilation.get("cudagraph_mode")
        if mode is not None and str(mode).upper() in {"NONE", "0"}:
            return 0
        engine = {**compilation, **engine}
    most, step = tokens(engine, MOST), tokens(engine, STEP)
    if sizes := engine.get(SIZES):
        # Those above it are left out.
        listed = sizes if isinstance(sizes, list) else [sizes]
        counts = [_count(size, SIZES) for size in listed]
        return max((size for size in counts if step is None or size <= step), default=0)
    if most is None and series.machine is not None:
        return series.machine.graph_tokens
    # The engine bounds it by its largest step; whoever raises that gets the rest.
    return most


def tokens(engine: Mapping[str, Any], name: str) -> int | None:
    """Read an engine argument that is a number of tokens; None where it is not set.

    Raises:
        LanewrightError: It is something else.
    """
    return None if engine.get(name) is None else _count(engine[name], name)


def _count(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise LanewrightError(
            f"[engine] {name} has {value!r}, which is no number of tokens",
            hint="mend it in the lane's series",
        )
    return value
