"""The rows of the table: what each layer does, and what it did since the frame before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Stats = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """One layer.

    Attributes:
        name: Safe to show.
        cells: The others by the name of their column.
        regret: Cold share that the oracle map would not have; None for unknown.
    """

    name: str
    cells: Mapping[str, str]
    regret: float | None


def rows(stats: Stats, before: Stats | None) -> list[Row]:
    """Make them, in the model's order.

    Args:
        stats: Checked ones.
        before: Those of the last frame; None, or of another start of the server, for all so far.
    """
    layers = stats["layers"]
    earlier = before["layers"] if before and follows_on(stats, before) else [None] * len(layers)
    names = shortened([layer["name"] for layer in layers])
    return [
        _row(name, layer, last) for name, layer, last in zip(names, layers, earlier, strict=True)
    ]


def follows_on(stats: Stats, before: Stats) -> bool:
    """Tell whether both are of one start of one server."""
    same = all(stats.get(each) == before.get(each) for each in ("pid", "started", "server"))
    return same and len(stats["layers"]) == len(before["layers"])


def shortened(names: Sequence[str]) -> list[str]:
    """Leave out of layers' names the parts between dots that all begin and end with."""
    parts = [name.split(".") for name in names]
    shortest = min(map(len, parts))
    for cut in (0, -1):
        while shortest > 1 and len(parts) > 1 and len({each[cut] for each in parts}) == 1:
            parts = [each[1:] if cut == 0 else each[:-1] for each in parts]
            shortest -= 1
    return [safe(".".join(each)) for each in parts]


def safe(text: str) -> str:
    """A name as it can be shown: one that would steer a terminal is written out."""
    return text if text.isprintable() else ascii(text)


def percent(share: float | None) -> str:
    """A share of 1; a dash where there is none."""
    return "-" if share is None else f"{share:.1%}"


def _row(name: str, layer: Stats, last: Stats | None) -> Row:
    cold = layer["cold"]
    known = cold["late"] is not None and cold["oracle"] is not None
    regret = cold["late"] - cold["oracle"] if known else None
    cells = {
        "hot": f"{layer['hot_experts']}/{layer['experts']}",
        "picks": f"{_picks(layer) - (_picks(last) if last else 0):,}",
        "cold": percent(cold["late"]),
        "boot": percent(cold["boot"]),
        "oracle": percent(cold["oracle"]),
        "regret": percent(regret),
        "swaps": f"{layer['swaps']:,}",
    }
    return Row(name, cells, regret)


def _picks(layer: Stats) -> int:
    return int(layer["hot_picks"] + layer["cold_picks"])
