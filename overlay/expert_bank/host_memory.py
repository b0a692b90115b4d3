# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Host memory for banks: of exact size, on one node with CPUs, measured and proven."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from expert_bank import node_binding, numa
from expert_bank.pages import HostPages, page_bytes
from expert_bank.placement import require_placement
from expert_bank.probe import Reader, probe, require_speed
from expert_bank.sizes import told
from expert_bank.smaps import Smaps, measured, read_smaps, require_exact

if TYPE_CHECKING:
    import torch


def in_place(rows: "torch.Tensor") -> "torch.Tensor":
    """Look at rows where the device's memory is the host's."""
    return rows


class HostMemory:
    """The mappings of all layers' banks.

    Attributes:
        node: Where the pages are bound to; None on a machine without nodes.
        mappings: In the order they were asked for.
        layers: By name the bytes of each layer's rows, and what was asked for while ``of_layer`` ran.
        view: Turns rows of a mapping into what the device reads of the same memory.
    """

    def __init__(
        self,
        *,
        wanted: int | None = None,
        view: "Callable[[torch.Tensor], torch.Tensor]" = in_place,
        root: Path = Path("/"),
    ) -> None:
        """Choose the node.

        Args:
            wanted: The node's number, where the run names it.
            view: See ``HostMemory``.
            root: Where ``proc`` and ``sys`` are.

        Raises:
            Refused: No node with memory has a CPU of this process, or the wanted one will not do.
        """
        found = numa.nodes(root=root)
        named = bool(found) or wanted is not None
        self.node = numa.home(found, wanted=wanted).number if named else None
        self._binds = numa.must_bind(found)
        self.mappings: list[HostPages] = []
        self.layers: dict[str, tuple[int, list[HostPages]]] = {}
        self.view = view
        self._root = root

    @property
    def bound_to(self) -> int | None:
        """The node that memory must be bound to; None where it is there as it comes."""
        return self.node if self._binds else None

    def map(self, length: int) -> HostPages:
        """Map memory and bind it, before its first touch.

        Args:
            length: Bytes, at least one.

        Raises:
            Refused: The system stands against it.
        """
        return self.take(HostPages(length))

    @contextmanager
    def of_layer(self, name: str, expected: int) -> Iterator[None]:
        """Take what is asked for in the block for a layer's, to be measured apart.

        Args:
            name: The layer's.
            expected: Bytes of its rows here, by their number and size; not by what is mapped for them.
        """
        first = len(self.mappings)
        yield
        self.layers[name] = expected, [each for each in self.mappings[first:] if each.held]

    def take(self, pages: HostPages) -> HostPages:
        """Bind the memory of a mapping, before its first touch, and prove it with all others.

        Raises:
            Refused: The system stands against it.
        """
        if pages.held and self.bound_to is not None:
            node_binding.bind(pages.address, pages.held, self.bound_to)
        self.mappings.append(pages)
        return pages

    def rows(
        self, pages: HostPages, dtype: "torch.dtype", shape: Sequence[int], offset: int
    ) -> "torch.Tensor":
        """Look at rows of a mapping as the device reads them.

        Args:
            pages: A mapping of ours; known to the device, where that is another.
            dtype: Of the elements.
            shape: [rows, ...].
            offset: Bytes from the mapping's start, a multiple of an element's size.
        """
        return self.view(pages.tensor(dtype, shape, offset))

    def prove(self, read: Reader, *, floor: float | None) -> list[str]:
        """Measure what was filled, where it lies and how fast it is read.

        Args:
            read: Reads a slice of a mapping, at most ``probe.SLICE`` bytes.
            floor: GB/s that it must be read at; None where that is only to be told.

        Returns:
            Lines for people; where it lies is told as proven, or as no more than taken to be so.
            None where no mapping has memory.

        Raises:
            Refused: It is not the size of the arithmetic, lies elsewhere, or is too slow.
        """
        sizes = [(each.address, each.held) for each in self.mappings if each.held]
        if not sizes:
            return []
        smaps = read_smaps(root=self._root)
        whole = sum(size for _, size in sizes)
        summed = measured(sizes, smaps)
        require_exact(summed, whole, filled=True)
        layers = self._layers(smaps)
        place = self.place(sizes)
        largest = max(self.mappings, key=lambda each: each.held)
        speed = probe(largest.address, min(largest.held, largest.asked), read)
        require_speed(speed, floor, node=self.node)
        return [
            (
                f"host memory: {told(whole)} in {len(sizes)} mappings, {told(summed.resident)} in"
                f" memory, {place}{layers}; read at {speed}"
            )
        ]

    def _layers(self, smaps: Smaps) -> str:
        """Hold each layer's memory against its own arithmetic; how far off the worst is."""
        worst = 0.0
        for name, (expected, pages) in self.layers.items():
            found = measured([(each.address, each.held) for each in pages], smaps)
            rounding = page_bytes() * len(pages)
            what = f"{name}: host memory"
            require_exact(found, expected, filled=True, what=what, rounding=rounding)
            worst = max(worst, abs(found.resident - expected) / max(expected, 1))
        count = len(self.layers)
        return f", each of {count} layers' within {worst:.2%} of its arithmetic" if count else ""

    def place(self, sizes: Sequence[tuple[int, int]]) -> str:
        """Prove on which node mappings lie, or tell why that is only taken to be so.

        Args:
            sizes: Address and bytes of each, every page of which was touched.

        Raises:
            Refused: A page lies on another node.
        """
        if self.node is None:
            return f"on a machine without nodes (/{numa.NODES} lists none)"
        found = [require_placement(*each, self.node, root=self._root) for each in sizes]
        if None not in found:
            return f"all on node {self.node}"
        return (
            f"on node {self.node}, the only one with memory (not proven: /proc/self/numa_maps cannot"
            " be read)"
        )
