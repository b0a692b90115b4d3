"""Equality, told to people."""

from collections.abc import Iterator, Mapping
from typing import Any

from lanewright.errors import MismatchError

SHOWN = 48
# Of a digest.
DIGITS = 12


def lines(equality: Mapping[str, Any]) -> Iterator[str]:
    """Yield where less was asked than of other lanes, which arms are of an earlier run, then the modes.

    A mode has a line, and one per row.

    Args:
        equality: As ``record.schema.json`` has it.
    """
    if equality.get("fewer"):
        yield f"asked for less than by default: {', '.join(equality['fewer'])}"
    if equality.get("plain"):
        said = ", ".join(f"{name}={value}" for name, value in equality["plain"].items())
        yield f"where our features are off, and in the baseline: {said}"
    if cores := equality.get("cores"):
        yield f"pin and lane at once, each on {cores} core{'s' * (cores > 1)}"
    for arm, origin in equality.get("resumed", {}).items():
        yield f"resumed: {arm} is of run {origin['run']}, finished {origin['finished']}"
    yield from tuned(equality)
    for mode in equality["modes"]:
        why = f" ({mode['why']})" if mode["why"] else ""
        yield f"{mode['mode']}: {mode['verdict']}{why}; {mode['distinct']} distinct tokens"
        for row in mode["rows"]:
            yield f"  {row['arm']}: {row['equal']}/{row['prompts']} equal{_role(row)}"
            if row["first"]:
                yield f"    {divergence(row['first'])}"


def tuned(equality: Mapping[str, Any]) -> Iterator[str]:
    """Yield by which tactics kernels were chosen, of each file that any arm had.

    Args:
        equality: As ``record.schema.json`` has it.
    """
    found = {arm: each["tactics"] for arm, each in equality.get("engines", {}).items()}
    for file in sorted({file for each in found.values() for file in each["ended"]}):
        arms: dict[str, list[str]] = {}
        for arm, each in found.items():
            arms.setdefault(each["ended"].get(file, ""), []).append(arm)
        told = "; ".join(
            f"{digest[:DIGITS] or 'none'} {', '.join(names)}" for digest, names in arms.items()
        )
        yield f"tactics, {file}: sha256 {told}"


def proven(equality: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is proven of each arm that differs: none of that made it differ.

    Args:
        equality: As ``record.schema.json`` has it.
    """
    for mode in equality["modes"]:
        # One arm has a row for each number of prompts that are asked at once.
        names = [row["arm"].partition(",")[0] for row in mode["rows"] if row["first"]]
        for name in dict.fromkeys(names):
            for proof in equality["proofs"].get(f"{mode['mode']}.{name}", ()):
                yield f"{mode['mode']}.{name}, {proof['feature']}: {proof['text']}"


def unproven(error: MismatchError, equality: Mapping[str, Any]) -> MismatchError:
    """Tell a proof that failed together with what the answers say, and last.

    Args:
        error: Why an arm proves nothing, or the wrong thing.
        equality: As ``record.schema.json`` has it, with the proofs that held.
    """
    if equality["verdict"] == "equal":
        message = f"{error}\n  every answer is the baseline's all the same"
    else:
        head = f"equality with its baseline: {equality['verdict']}"
        facts = "\n  ".join([head, *lines(equality), *proven(equality)])
        message = f"{facts}\n{error}"
    return MismatchError(message, hint=error.hint)


def _role(row: Mapping[str, Any]) -> str:
    return {"control": ", as it must be", "negative control": ", and must differ", "arm": ""}[
        row["role"]
    ]


def divergence(first: Mapping[str, Any]) -> str:
    """Tell where an answer first leaves the baseline's."""
    prompt = first["prompt"]
    shown = prompt if len(prompt) <= SHOWN else prompt[: SHOWN - 3] + "..."
    place = f"prompt {first['number']} {shown!r}, index {first['index']}"
    gap = "" if first["gap"] is None else f" (top-2 gap {first['gap']:.6f})"
    if first["what"] == "text":
        return f"{place}: the same tokens, decoded to another text"
    if first["what"] == "logprob":
        return f"{place}: token {first['baseline']} in both, with another logprob{gap}"
    other, ours = (_token(first[side]) for side in ("other", "baseline"))
    return f"{place}: {other}, where the baseline has {ours}{gap}"


def _token(token: int | None) -> str:
    return "the end" if token is None else f"token {token}"
