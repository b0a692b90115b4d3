# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""On which NUMA nodes a mapping's pages lie, by the kernel's own count."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from expert_bank import numa
from expert_bank.pages import page_bytes
from expert_bank.proc import text_of
from expert_bank.refused import Refused
from expert_bank.sizes import told

PAIR = re.compile(r"(N\d{1,4}|kernelpagesize_kB)=(\d{1,18})", re.ASCII)
ADDRESS = re.compile(r"[0-9a-f]{1,16}")
# Pages that are being moved for a moment belong to no node; more than this are missing.
TOLERANCE = 0.01


@dataclass(frozen=True)
class Placement:
    """Where a range lies.

    Attributes:
        length: Bytes of the range.
        nodes: Bytes by node.
        policies: The memory policies of its parts, in the kernel's words.
    """

    length: int
    nodes: Mapping[int, int]
    policies: frozenset[str]

    def __str__(self) -> str:
        parts = [f"node {node}: {told(held)}" for node, held in sorted(self.nodes.items())]
        unseen = self.length - sum(self.nodes.values())
        return (
            f"{' + '.join(parts) or 'nothing'} + on no node: {told(unseen)} "
            f"= {told(self.length)}; policy {', '.join(sorted(self.policies)) or 'unknown'}"
        )


def placement(address: int, length: int, *, root: Path = Path("/")) -> Placement | None:
    """Count a range's pages by node.

    Args:
        address: Of the first byte.
        length: Bytes, to the end of a mapping: ``numa_maps`` names no ends.
        root: Where ``proc`` is.

    Returns:
        None where the kernel does not tell: it has no NUMA, or ``numa_maps`` cannot be read.
    """
    text = text_of(root / "proc/self/numa_maps")
    if text is None:
        return None
    held: Counter[int] = Counter()
    policies = set()
    for line in text.split("\n"):
        start, _, rest = line.partition(" ")
        if not (ADDRESS.fullmatch(start) and address <= int(start, 16) < address + length):
            continue
        policies.add(rest.partition(" ")[0])
        pairs = {
            each[1]: int(each[2])
            for each in map(PAIR.fullmatch, rest.split(" "))
            if each is not None
        }
        page = 1024 * pairs.pop("kernelpagesize_kB", page_bytes() // 1024)
        for name, pages in pairs.items():
            held[int(name[1:])] += page * pages
    return Placement(length, dict(held), frozenset(policies))


def require_placement(
    address: int, length: int, node: int, *, root: Path = Path("/")
) -> Placement | None:
    """Refuse a filled range of which a page lies on another node.

    Args:
        address: Of the first byte.
        length: Bytes, to the end of a mapping, each page of which was written to.
        node: Where it must lie.
        root: Where ``proc`` and ``sys`` are.

    Returns:
        Where it lies; None where the kernel cannot tell and there is only one place.

    Raises:
        Refused: It lies elsewhere, is not all there, or nothing can be told on a machine that has
            several nodes.
    """
    found = placement(address, length, root=root)
    if found is None:
        if not numa.must_bind(numa.nodes(root=root)):
            return None
        raise Refused(
            f"that {told(length)} of host memory is on node {node} cannot be proven: "
            "/proc/self/numa_maps cannot be read, and there are several nodes"
        )
    here = found.nodes.get(node, 0)
    elsewhere = sum(found.nodes.values()) - here
    if elsewhere or abs(length - here) > TOLERANCE * length:
        raise Refused(
            f"host memory must be on node {node}, but {found}",
            hint="bind it before it is first written to",
        )
    return found
