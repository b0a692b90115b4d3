"""The policies by name."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from lanewright.residency.belady import belady_cold
from lanewright.residency.compared.forwards import by_forward, forward_starts
from lanewright.residency.compared.maps import following, standing
from lanewright.residency.compared.outcome import Outcome, waited
from lanewright.residency.compared.setting import Setting
from lanewright.residency.frequency import lfru_cold, lfu_cold
from lanewright.residency.infinity.serving import serve
from lanewright.residency.infinity.settings import Variant
from lanewright.residency.lru import lru_cold
from lanewright.residency.oracle import oracle_map
from lanewright.residency.random_maps import random_map
from lanewright.residency.trace import Map, Picks, Trace, counted

OnDemand = Callable[[Trace, Map, tuple[int, ...]], Picks]
ON_DEMAND: dict[str, OnDemand] = {
    "lru": lru_cold,
    "lfu": lfu_cold,
    "lfru": lfru_cold,
    "belady": belady_cold,
}
INFINITY: dict[str, Variant] = {"infinity-paper": "paper", "infinity-code": "code"}
FOLLOWING = ("following", "following-eams")
MAPS = ("fixed", *FOLLOWING, "oracle", "null")
POLICIES = ("null", "fixed", *FOLLOWING, "oracle", "lru", "lfu", "lfru", "belady", *INFINITY)


def outcomes(name: str, setting: Setting) -> Iterator[Outcome]:
    """Serve a setting's trace with a policy.

    Args:
        name: One of ``POLICIES``.
        setting: See there.

    Yields:
        One outcome, or one for each link where the link decides what is prefetched in time.
    """
    if name in INFINITY:
        yield from _infinity(name, setting)
    elif name in ON_DEMAND:
        yield _on_demand(name, setting)
    elif name in FOLLOWING:
        yield following(setting, by_eams=name == "following-eams")
    else:
        yield standing(name, setting, _map(name, setting))


def _map(name: str, setting: Setting) -> Map:
    if name == "fixed":
        return setting.boot
    trace, rows = setting.trace, setting.rows
    if name == "oracle":
        return oracle_map(counted(trace.ids, trace.experts), rows)
    return random_map(len(rows), trace.experts, rows, setting.seed)


def _on_demand(name: str, setting: Setting) -> Outcome:
    """Serve tokens one after the other: what a forward's first misses, its second has."""
    trace = setting.trace
    cold = ON_DEMAND[name](trace.ids, setting.boot, setting.rows)
    demanded = by_forward(cold.sum(axis=1), forward_starts(trace.forward))
    return Outcome(
        policy=name,
        cold=cold,
        demanded=demanded,
        ahead=demanded * 0,
        wasted=0,
        stall=waited(demanded, setting.row, setting.links),
    )


def _infinity(name: str, setting: Setting) -> Iterator[Outcome]:
    for link in setting.links:
        done = serve(
            setting.trace,
            rows=setting.shared_rows,
            row=setting.row,
            rate=link * 1e9,
            step_seconds=setting.step_seconds,
            settings=replace(setting.infinity, variant=INFINITY[name]),
            boot=setting.boot,
            past=setting.past,
        )
        yield Outcome(
            policy=name,
            cold=done.cold,
            demanded=done.demanded,
            ahead=done.prefetched,
            wasted=done.wasted,
            stall={link: done.stall},
        )
