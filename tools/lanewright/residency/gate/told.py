"""The gate as values that JSON can carry, and as lines for people."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from lanewright.residency.gate.conditions import VERDICTS, Condition, verdict

WORDS = {True: "met", False: "not met", None: "not known"}


def facts(conditions: Sequence[Condition]) -> dict[str, Any]:
    """Give the verdict and the conditions."""
    return {
        "schema": 1,
        "verdict": verdict(conditions),
        "conditions": [asdict(each) for each in conditions],
    }


def lines(conditions: Sequence[Condition]) -> Iterator[str]:
    """Tell each condition, what would change it, and the verdict."""
    for each in conditions:
        bar = "" if each.bar is None else f", {each.bar:.0%} needed"
        yield f"{each.name}: {WORDS[each.met]}: {each.value}{bar}"
        if each.change:
            yield f"  to change it: {each.change}"
    yield f"{verdict(conditions)}: {VERDICTS[verdict(conditions)]}"
