"""A comparison as values that JSON can carry, and as a table for people."""

from collections.abc import Iterable, Iterator
from typing import Any

from lanewright.residency.aligned import aligned
from lanewright.residency.compared.first_tokens import buckets
from lanewright.residency.compared.forwards import forward_starts
from lanewright.residency.compared.outcome import Outcome
from lanewright.residency.compared.setting import Setting
from lanewright.residency.null import null_share
from lanewright.residency.trace import Picks

MIB = 2**20
HEAD = ("policy", "cold", "hit", "demand", "moved", "wasted", "swaps")


def facts(setting: Setting, found: Iterable[Outcome], place: Picks) -> dict[str, Any]:
    """Give a comparison; sizes in bytes, times in seconds, shares of all picks.

    Args:
        setting: What was compared on.
        found: Each policy's outcome.
        place: int64[T], of each token in its request.
    """
    trace, starts = setting.trace, forward_starts(setting.trace.forward)
    null = null_share(trace.experts, setting.rows)
    return {
        "schema": 1,
        "model": trace.model,
        "layers": len(trace.layers),
        "experts": trace.experts,
        "picks_per_token": trace.picks,
        "tokens": trace.tokens,
        "forwards": len(starts),
        "requests": len({*trace.request.tolist()}),
        "rows": list(setting.rows),
        "row_bytes": setting.row,
        "buffer_rows": setting.shared_rows,
        "step_seconds": setting.step_seconds,
        "links": list(setting.links),
        # Of a map that knows nothing, by arithmetic; no share says much without it.
        "null": {"cold_share": null, "hit_rate": 1 - null},
        "policies": [_outcome_facts(setting, each, place, starts) for each in found],
    }


def _outcome_facts(setting: Setting, found: Outcome, place: Picks, starts: Picks) -> dict[str, Any]:
    trace, row = setting.trace, setting.row
    cold = int(found.cold.sum()) / max(1, trace.ids.size)
    return {
        "policy": found.policy,
        "links": list(found.stall),
        "cold_share": cold,
        "hit_rate": 1 - cold,
        "demand_miss_bytes": int(found.demanded.sum()) * row,
        "moved_bytes": found.moved * row,
        "wasted_bytes": found.wasted * row,
        "swaps": found.swaps,
        "stall_seconds": {f"{link:g}": float(each.sum()) for link, each in found.stall.items()},
        "by_token": [
            {
                "first": each.first,
                "behind": each.behind,
                "tokens": each.tokens,
                "cold_share": each.cold_share,
                "stall_seconds": {f"{link:g}": seconds for link, seconds in each.stall.items()},
            }
            for each in buckets(found, place, starts, trace.picks)
        ],
    }


def lines(told: dict[str, Any]) -> Iterator[str]:
    """Tell a comparison, a policy a line; bytes and times are those of a forward, in the mean."""
    yield (
        f"{told['tokens']} tokens in {told['forwards']} forwards of {told['requests']} requests;"
        f" {told['layers']} layers of {told['experts']} experts, {told['picks_per_token']} a token,"
        f" {told['row_bytes'] / MIB:.2f} MiB each"
    )
    total = sum(told["rows"])
    shared = (
        "" if told["buffer_rows"] == total else f", {told['buffer_rows']} in MoE-Infinity's buffer"
    )
    yield (
        f"{total} rows{shared}: a map that knows nothing has {told['null']['cold_share']:.2%} cold,"
        f" {told['null']['hit_rate']:.2%} hit"
    )
    yield (
        f"of a forward: MiB missed, moved and wasted; ms waited at each link, beside the"
        f" {told['step_seconds'] * 1e3:g} that it computes"
    )
    head = [*HEAD, *(f"{link:g} GB/s" for link in told["links"])]
    yield from aligned([head, *(_row(told, each) for each in told["policies"])])


def by_token_lines(told: dict[str, Any]) -> Iterator[str]:
    """Tell each policy by a token's place in its request: the share that is cold, and ms waited."""
    yield "by a token's place in its request: cold, and ms that its forward waited"
    rows = [["policy", "tokens", "cold", *(f"{link:g} GB/s" for link in told["links"])]]
    for policy in told["policies"]:
        for each in policy["by_token"]:
            last = each["behind"] - 1
            place = f"{each['first']}" if last == each["first"] else f"{each['first']}-{last}"
            waited = _waited(told, each["stall_seconds"], 1)
            rows.append([policy["policy"], place, f"{each['cold_share']:.2%}", *waited])
    yield from aligned(rows)


def _row(told: dict[str, Any], each: dict[str, Any]) -> list[str]:
    forwards = max(1, told["forwards"])
    sizes = (each[name] for name in ("demand_miss_bytes", "moved_bytes", "wasted_bytes"))
    return [
        each["policy"],
        f"{each['cold_share']:.2%}",
        f"{each['hit_rate']:.2%}",
        *(f"{size / forwards / MIB:.1f}" for size in sizes),
        "" if each["swaps"] is None else str(each["swaps"]),
        *_waited(told, each["stall_seconds"], forwards),
    ]


def _waited(told: dict[str, Any], seconds: dict[str, float], forwards: int) -> Iterator[str]:
    """Milliseconds at each link; nothing where the outcome is that of another one."""
    for link in told["links"]:
        found = seconds.get(f"{link:g}")
        yield "" if found is None else f"{found / forwards * 1e3:.2f}"
