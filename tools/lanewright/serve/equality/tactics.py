"""Whether two engines' kernels were tuned alike: only then do their answers say anything."""

from collections.abc import Mapping
from typing import Any

# What an engine that keeps no such file is told to have.
NONE: Mapping[str, Mapping[str, Any]] = {"started": {}, "ended": {}, "entries": {}}


def other_tactics(baseline: Mapping[str, Any], arm: Mapping[str, Any]) -> str:
    """Say how an arm's tactics are other than the baseline's.

    What it tuned beside them is no difference: kernels over two banks have shapes that the baseline
    never asks for. Entries are compared as both left the file, which none takes anything from.

    Args:
        baseline: Its result, as ``inside/arms.py`` writes it.
        arm: The other's.

    Returns:
        Empty where none is other.
    """
    theirs, ours = _entries(baseline), _entries(arm)
    lacks = sum(key not in ours for key in theirs)
    other = sum(ours.get(key, tactic) != tactic for key, tactic in theirs.items())
    if not lacks and not other:
        return ""
    told = [f"{other} other"] * bool(other) + [f"{lacks} missing"] * bool(lacks)
    return f"its kernels were tuned otherwise: of {len(theirs)} tactics {', '.join(told)}"


def files(result: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """SHA-256 of each file of tactics as an arm started and ended with it, for the record."""
    found = result.get("tactics", NONE)
    return {when: dict(found[when]) for when in ("started", "ended")}


def _entries(result: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    entries = result.get("tactics", NONE)["entries"]
    return {(file, key): tactic for file, tuned in entries.items() for key, tactic in tuned.items()}
