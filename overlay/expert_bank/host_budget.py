# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What host memory has left for banks, before any of it is taken."""

from dataclasses import dataclass
from pathlib import Path

from expert_bank import cgroup
from expert_bank.numa import NODES
from expert_bank.proc import sizes_of, text_of
from expert_bank.refused import Refused
from expert_bank.sizes import told

Terms = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class HostBudget:
    """What there is, in bytes.

    Attributes:
        sources: Each place that must have a bank's bytes, with the terms whose sum it has.
    """

    sources: tuple[tuple[str, Terms], ...]

    @property
    def left(self) -> int:
        """What the tightest place has; below zero where a group is over its limit."""
        return min(sum(count for _, count in terms) for _, terms in self.sources)

    def lines(self) -> list[str]:
        """Write the arithmetic out, a line for each place."""
        return [
            f"{name}: "
            + "".join(
                f"{'- ' if count < 0 else '+ ' if number else ''}{told(abs(count))} {term} "
                for number, (term, count) in enumerate(terms)
            )
            + f"= {told(sum(count for _, count in terms))}"
            for name, terms in self.sources
        ]


def host_budget(*, node: int | None = None, root: Path = Path("/")) -> HostBudget:
    """Measure what the host has left.

    Args:
        node: That banks will be bound to: then the whole machine's figure does not do, for on a
            Grace machine it holds the device's memory too.
        root: Where ``proc`` and ``sys`` are.

    Raises:
        Refused: The kernel does not tell.
    """
    sources = [("the machine", _machine(root))]
    if node is not None:
        sources.append((f"node {node}", _node(node, root)))
    for limit in cgroup.limits(root=root):
        terms = (("limit", limit.limit), ("used", -limit.used), ("file cache", limit.cache))
        sources.append((limit.name, terms))
    return HostBudget(tuple(sources))


def _machine(root: Path) -> Terms:
    available = sizes_of(text_of(root / "proc/meminfo") or "").get("MemAvailable")
    if available is None:
        raise Refused("how much memory is left cannot be told: no MemAvailable in /proc/meminfo")
    return (("MemAvailable", available),)


def _node(node: int, root: Path) -> Terms:
    found = sizes_of(text_of(root / NODES / f"node{node}" / "meminfo") or "")
    if "MemFree" not in found:
        raise Refused(f"how much memory node {node} has left cannot be told: no MemFree of it")
    cache = found.get("Active(file)", 0) + found.get("Inactive(file)", 0)
    return (("free", found["MemFree"]), ("file cache", cache))
