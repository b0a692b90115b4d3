"""Maps of experts onto two banks, drawn at random."""

import torch

from expert_bank.table_layout import BANK, COLD, HOT, PLACE, ROW


def random_table(
    source: torch.Generator, *, experts: int, hot: int, cold: int, hot_experts: int | None = None
) -> torch.Tensor:
    """Draw int32[4, E]: which experts are hot, and the row of each; rows of both banks stay free.

    ``hot_experts`` is how many are hot, at most ``hot``; drawn too where it is left out.
    """
    least, most = max(0, experts - cold), min(hot, experts)
    if hot_experts is None:
        hot_experts = int(torch.randint(least, most + 1, (1,), generator=source))
    assert least <= hot_experts <= most
    order = torch.randperm(experts, generator=source)
    in_hot, in_cold = order[:hot_experts], order[hot_experts:]
    table = torch.zeros(4, experts, dtype=torch.int32)
    table[BANK, in_hot] = HOT
    table[BANK, in_cold] = COLD
    table[ROW, in_hot] = torch.randperm(hot, generator=source)[: len(in_hot)].to(torch.int32)
    table[ROW, in_cold] = torch.randperm(cold, generator=source)[: len(in_cold)].to(torch.int32)
    table[PLACE] = table[ROW] + hot * table[BANK]
    return table
