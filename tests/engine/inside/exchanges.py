"""Swaps of experts between two banks of kernels' checks, which need no vLLM."""

from collections.abc import Callable, Sequence

import torch
from banks import Banks, row_addresses
from checks import DEVICE

from expert_bank.row_copy import RowCopies
from expert_bank.table_layout import BANK, COLD, HOT, PLACE, ROW

# A bank and a row of it; a copy goes to the first of two from the second.
Place = tuple[torch.Tensor, int]
Copied = Callable[[Sequence[tuple[Place, Place]]], None]


class RowCopy:
    """Copies one row of each row tensor.

    Attributes:
        copies: What our kernel is told; its launch may have been captured.
        launch: Runs it, and waits.
    """

    def __init__(self, banks: Sequence[Banks]) -> None:
        sizes = tuple(each.hot[0].nbytes for each in banks)
        self.copies = RowCopies(sizes, rows=1, device=DEVICE)
        self.copies.count.fill_(1)
        self.launch: Callable[[], object] = self.copies.run

    def launched(self, rows: Sequence[tuple[Place, Place]]) -> None:
        """By our kernel, all at once."""
        copies, before = self.copies, int(self.copies.copied)
        for number, places in enumerate(rows):
            for side, (bank, row) in zip(
                (copies.destinations, copies.sources), places, strict=True
            ):
                side[number] = row_addresses(bank, torch.tensor([row], device=DEVICE))
        self.launch()
        assert int(copies.copied) - before == sum(copies.row_bytes)

    @staticmethod
    def plain(rows: Sequence[tuple[Place, Place]]) -> None:
        """By torch, one after another."""
        for (to, row), (of, taken) in rows:
            to[row] = of[taken]


def exchange(
    table: torch.Tensor, banks: Sequence[Banks], copied: Copied, source: torch.Generator
) -> None:
    """Demote a hot expert to a spare cold row, promote a cold one in its place, and tell the table.

    The row that the promoted expert leaves is NaN.

    Args:
        table: int32[4, E] in the host's memory, written.
        banks: Of each row tensor; at least one cold row is nobody's.
        copied: See ``RowCopy``.
        source: Of what is drawn.
    """
    hot, cold = (drawn((table[BANK] == bank).nonzero().flatten(), source) for bank in (HOT, COLD))
    used = table[ROW][table[BANK] == COLD].tolist()
    spare = next(row for row in range(len(banks[0].cold)) if row not in used)
    hot_row, cold_row = int(table[ROW, hot]), int(table[ROW, cold])
    copied([((each.cold, spare), (each.hot, hot_row)) for each in banks])
    copied([((each.hot, hot_row), (each.cold, cold_row)) for each in banks])
    for each in banks:
        each.cold[cold_row] = torch.nan
    for expert, bank, row in ((hot, COLD, spare), (cold, HOT, hot_row)):
        entry = torch.tensor([bank, row, row + len(banks[0].hot) * bank], dtype=torch.int32)
        table[[BANK, ROW, PLACE], expert] = entry


def drawn(of: torch.Tensor, source: torch.Generator) -> int:
    """Draw one."""
    return int(of[int(torch.randint(len(of), (1,), generator=source))])
