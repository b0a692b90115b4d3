"""The proof that no graph is captured again once an engine with two banks is up, whatever is swapped."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lanewright.errors import MismatchError
from lanewright.serve.evidence import Proof
from lanewright.serve.features import BANKS


def with_graphs(proofs: Sequence[Proof], found: Mapping[str, Any], where: str) -> tuple[Proof, ...]:
    """Add to the banks' proof how many graphs the engine captured, where it captured any.

    Args:
        proofs: Of an arm.
        found: Its result, as ``inside/arms.py`` writes it.
        where: Which arm this was, for messages.

    Raises:
        MismatchError: Some were captured again.
    """
    graphs = found.get("graphs")
    if not graphs or not graphs["ended"]:
        return tuple(proofs)
    return tuple(
        _with(proof, graphs, where) if (proof.feature, proof.on) == (BANKS, True) else proof
        for proof in proofs
    )


def _with(proof: Proof, graphs: Mapping[str, int], where: str) -> Proof:
    up = graphs["up"]
    if again := graphs["ended"] - up:
        raise MismatchError(
            f"{where}: {BANKS}: {up} graphs were captured until the engine was up, and {again} more"
            f" after it, with {proof.facts['swapped']} swaps"
        )
    facts = {**proof.facts, "graphs": up}
    return replace(proof, facts=facts, text=f"{proof.text}; {up} graphs, none captured again")
