# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Whether the host has memory for a bank, before any of it is taken."""

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
    """What is asked for and what there is, in bytes.

    Attributes:
        asked: By the bank.
        reserve: To be left for all else.
        sources: Each place that must have it, with the terms whose sum it has.
    """

    asked: int
    reserve: int
    sources: tuple[tuple[str, Terms], ...]

    @property
    def left(self) -> int:
        """What the tightest place has left; below zero it does not fit."""
        return min(self._left(terms) for _, terms in self.sources)

    def _left(self, terms: Terms) -> int:
        return sum(count for _, count in terms) - self.reserve - self.asked

    def lines(self) -> list[str]:
        """Write the arithmetic out, a line for each place."""
        return [
            f"{name}: "
            + "".join(
                f"{'- ' if count < 0 else '+ ' if number else ''}{told(abs(count))} {term} "
                for number, (term, count) in enumerate(terms)
            )
            + f"- {told(self.reserve)} reserve - {told(self.asked)} asked "
            f"= {told(self._left(terms))}"
            for name, terms in self.sources
        ]


def host_budget(
    asked: int, *, reserve: int, node: int | None = None, root: Path = Path("/")
) -> HostBudget:
    """Measure what the host has left.

    Args:
        asked: Bytes of the bank.
        reserve: Bytes to be left.
        node: That the bank will be bound to: then the whole machine's figure does not do, for on
            a Grace machine it holds the device's memory too.
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
    return HostBudget(asked, reserve, tuple(sources))


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


def require_host_memory(
    asked: int, *, reserve: int, node: int | None = None, root: Path = Path("/")
) -> HostBudget:
    """Refuse a bank that the host has no memory for.

    Args:
        asked: Bytes of the bank.
        reserve: Bytes to be left.
        node: That the bank will be bound to.
        root: Where ``proc`` and ``sys`` are.

    Raises:
        Refused: It does not fit, or the kernel does not tell.
    """
    found = host_budget(asked, reserve=reserve, node=node, root=root)
    if found.left < 0:
        raise Refused(
            "\n".join(["the host bank does not fit into host memory", *found.lines()]),
            hint=f"free {told(-found.left)}, make more rows hot, or keep no mirror of them",
        )
    return found
