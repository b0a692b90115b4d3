"""A scoreboard as values that JSON can carry, and as tables for people."""

from collections.abc import Iterable, Iterator
from math import inf
from typing import Any

from lanewright.residency.aligned import aligned
from lanewright.residency.guess.guessers import Scored
from lanewright.residency.guess.lead import arriving
from lanewright.residency.guess.score import Wide
from lanewright.residency.guess.setting import Setting
from lanewright.residency.null import null_share

MIB = 2**20


def facts(setting: Setting, found: Iterable[Scored]) -> dict[str, Any]:
    """Give a scoreboard; sizes in bytes, times in seconds, shares from 0 to 1.

    Args:
        setting: What was guessed at.
        found: Its rows.
    """
    trace, tokens = setting.trace, setting.scored
    rows = setting.boot.sum(axis=1).tolist()
    cold = ~setting.boot[range(len(rows)), trace.ids[tokens].swapaxes(1, 2)]
    return {
        "schema": 1,
        "model": trace.model,
        "layers": len(trace.layers),
        "experts": trace.experts,
        "picks_per_token": trace.picks,
        "phase": setting.phase,
        "tokens": len(tokens),
        "requests": len({*trace.request[tokens].tolist()}),
        "forwards": len({*trace.forward[tokens].tolist()}),
        "learned_tokens": int(setting.learned.sum()),
        "learned_requests": len({*trace.request[setting.learned].tolist()}),
        "rows": rows,
        "row_bytes": setting.row,
        "cold_share": float(cold.mean()),
        "null_cold_share": null_share(trace.experts, rows),
        "step_seconds": setting.step_seconds,
        "layer_seconds": setting.step_seconds / len(trace.layers),
        "attention_share": setting.attention,
        "links": [
            {"rate": link, "row_seconds": setting.row / (link * 1e9)} for link in setting.links
        ],
        "guessers": [_guesser_facts(setting, each) for each in found],
    }


def _guesser_facts(setting: Setting, found: Scored) -> dict[str, Any]:
    lead = found.lead
    told: dict[str, Any] = {
        "guesser": found.name,
        "missing": found.missing or None,
        "lead": lead.what,
        "lead_seconds": lead.seconds(
            setting.step_seconds, len(setting.trace.layers), setting.attention
        ),
        "copies": lead.copies,
    }
    if found.score is None:
        return told
    return {
        **told,
        "guessed": found.score.guessed,
        "recall_where_guessed": found.score.recall_where_guessed,
        "wide": [_wide_facts(setting, found, wide) for wide in found.score.wide],
    }


def _wide_facts(setting: Setting, found: Scored, wide: Wide) -> dict[str, Any]:
    told: dict[str, Any] = {
        "names": wide.names,
        "chance": wide.chance,
        "recall": wide.recall,
        "recall_error": wide.error,
        "precision": wide.precision,
        "cold_recall": wide.cold_recall,
        "cold_recall_error": wide.cold_error,
    }
    if not found.lead.copies:
        return told
    rows, row = wide.rows, setting.row
    return {
        **told,
        "copied_bytes": rows.copied * row,
        "useful_bytes": rows.useful * row,
        "wasted_bytes": (rows.copied - rows.useful) * row,
        "missed_bytes": rows.missed * row,
        "useful_share": rows.useful / rows.copied if rows.copied else None,
        "in_time": _in_time(setting, found, wide),
    }


def _in_time(setting: Setting, found: Scored, wide: Wide) -> dict[str, float | None]:
    """Of each link, the share of the rows that get there; None where there is nothing to copy."""
    layers = len(setting.trace.layers)
    forwards = len({*setting.trace.forward[setting.scored].tolist()})
    wanted = wide.rows.copied / (forwards * layers)
    lead = found.lead.seconds(setting.step_seconds, layers, setting.attention)
    if not wanted:
        return dict.fromkeys(f"{link:g}" for link in setting.links)
    lead = inf if lead is None else lead
    each = setting.step_seconds / layers
    return {
        f"{link:g}": arriving(lead, setting.row / (link * 1e9), each, wanted) / wanted
        for link in setting.links
    }


def lines(told: dict[str, Any]) -> Iterator[str]:
    """Tell a scoreboard: recall, then bytes and time."""
    yield (
        f"{told['tokens']} tokens of {told['phase']} in {told['forwards']} forwards of"
        f" {told['requests']} requests; learned from {told['learned_tokens']} tokens of"
        f" {told['learned_requests']} others"
    )
    yield (
        f"{told['layers']} layers of {told['experts']} experts, {told['picks_per_token']} a token,"
        f" {told['row_bytes'] / MIB:.2f} MiB each; {sum(told['rows'])} rows are resident,"
        f" {told['cold_share']:.2%} of the picks cold ({told['null_cold_share']:.2%} of a map that knows nothing)"
    )
    yield ""
    yield "recall of k, 2k and 3k names, +- its standard error by request; and of the cold picks alone"
    yield from aligned([*_recall_rows(told)])
    yield ""
    times = ", ".join(
        f"{each['row_seconds'] * 1e3:.3g} ms at {each['rate']:g} GB/s" for each in told["links"]
    )
    yield (
        f"of a forward, with k names: MiB that are copied, useful and wasted; lead in ms, where a forward"
        f" computes {told['step_seconds'] * 1e3:g} ms, a layer {told['layer_seconds'] * 1e3:.3g} of them, and"
        f" {told['attention_share']:.0%} of that before its router (assumed); a row takes {times}"
    )
    yield from aligned([*_time_rows(told)])
    for each in told["guessers"]:
        if each["missing"]:
            yield f"{each['guesser']}: not here: {each['missing']}"


def _recall_rows(told: dict[str, Any]) -> Iterator[list[str]]:
    picks, experts = told["picks_per_token"], told["experts"]
    names = [min(many * picks, experts) for many in (1, 2, 3)]
    heads = [[f"@{each}", "+-"] for each in names]
    yield [
        "guesser",
        "guessed",
        *(word for head in heads for word in head),
        "cold @k",
        "+-",
        "cold @2k",
    ]
    chances = [[f"{each / experts:.2%}", ""] for each in names]
    cold = [f"{names[0] / experts:.2%}", "", f"{names[1] / experts:.2%}"]
    yield ["(chance)", "", *(word for pair in chances for word in pair), *cold]
    for each in told["guessers"]:
        if each["missing"]:
            continue
        wide = each["wide"]
        numbers = [[_share(one["recall"]), _share(one["recall_error"])] for one in wide]
        yield [
            each["guesser"],
            _share(each["guessed"]),
            *(word for pair in numbers for word in pair),
            _share(wide[0]["cold_recall"]),
            _share(wide[0]["cold_recall_error"]),
            _share(wide[1]["cold_recall"]),
        ]


def _time_rows(told: dict[str, Any]) -> Iterator[list[str]]:
    links = [f"{each['rate']:g}" for each in told["links"]]
    head = ["guesser", "copied", "useful", "wasted", "useful", "lead"]
    yield [*head, *(f"{link} GB/s" for link in links)]
    for each in told["guessers"]:
        if each["missing"]:
            continue
        one = each["wide"][0]
        if not each["copies"]:
            yield [each["guesser"], "", "", "", "", each["lead"], *("" for _ in links)]
            continue
        sizes = (
            one[f"{name}_bytes"] / told["forwards"] / MIB for name in ("copied", "useful", "wasted")
        )
        lead = each["lead_seconds"]
        yield [
            each["guesser"],
            *(f"{size:.1f}" for size in sizes),
            _share(one["useful_share"]),
            "any time" if lead is None else f"{lead * 1e3:.3g}",
            *(_verdict(one["in_time"][link]) for link in links),
        ]


def _verdict(share: float | None) -> str:
    if share is None:
        return "nothing to copy"
    if share == 0:
        return "too late"
    return "in time" if share == 1 else f"{share:.0%} in time"


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.2%}"
