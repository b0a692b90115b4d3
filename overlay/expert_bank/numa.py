# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Which NUMA nodes there are, and which one a bank belongs on."""

import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from expert_bank.proc import numbers_in, sizes_of, text_of
from expert_bank.refused import Refused
from expert_bank.sizes import told

NODES = Path("sys/devices/system/node")


@dataclass(frozen=True)
class Node:
    """A NUMA node.

    Attributes:
        number: As the kernel counts.
        cpus: Its CPUs; without any it is memory only, such as a Grace machine's HBM, or empty,
            such as the nodes that such a machine keeps for MIG.
        memory: Bytes.
    """

    number: int
    cpus: frozenset[int]
    memory: int

    def __str__(self) -> str:
        return f"node {self.number} ({len(self.cpus)} CPUs, {told(self.memory)})"


def nodes(*, root: Path = Path("/")) -> tuple[Node, ...]:
    """List the nodes by number; none where the kernel has no NUMA.

    Raises:
        Refused: A node's list of CPUs cannot be read.
    """
    try:
        names = [each.name for each in (root / NODES).iterdir()]
    except OSError:
        return ()
    numbers = sorted(int(name[4:]) for name in names if re.fullmatch(r"node[0-9]{1,4}", name))
    return tuple(_node(number, root / NODES / f"node{number}") for number in numbers)


def _node(number: int, folder: Path) -> Node:
    cpus = numbers_in(text_of(folder / "cpulist") or "")
    memory = sizes_of(text_of(folder / "meminfo") or "").get("MemTotal", 0)
    return Node(number, cpus, memory)


def must_bind(found: Sequence[Node]) -> bool:
    """Tell whether pages could come from a wrong node: more than one has memory."""
    return sum(node.memory > 0 for node in found) > 1


def home(
    found: Sequence[Node], *, cpus: Collection[int] | None = None, wanted: int | None = None
) -> Node:
    """Choose the node for a bank.

    Args:
        found: The nodes, at least one.
        cpus: That this process may run on; asked of the system unless given.
        wanted: The node's number, where the run names it.

    Returns:
        Of the nodes with memory, the one that has most of the CPUs; the lowest of several.

    Raises:
        Refused: There is none, or the wanted one has no memory or no CPU.
    """
    allowed = frozenset(os.sched_getaffinity(0) if cpus is None else cpus)
    fit = {node.number: node for node in found if node.memory and node.cpus}
    listed = ", ".join(map(str, found)) or "no node"
    if wanted is not None:
        if wanted not in fit:
            raise Refused(
                f"host memory cannot be on node {wanted}: a node with memory and CPUs is needed, "
                f"and there is {listed}",
                hint="name another in EXPERT_BANK_NODE, or none: a node of memory only is a device's"
                " own memory, which the hot bank is in",
            )
        return fit[wanted]
    best = max(fit.values(), key=lambda node: len(node.cpus & allowed), default=None)
    if best is None or not best.cpus & allowed:
        raise Refused(
            f"no node with memory has a CPU of this process ({len(allowed)} CPUs); there is {listed}",
            hint="name the node in EXPERT_BANK_NODE, or look at the CPUs that the container allows",
        )
    return best
