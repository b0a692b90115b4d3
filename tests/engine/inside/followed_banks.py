"""Small two-banks whose map follows what a test has picked."""

import torch
from small_banks import Small, small

from expert_bank.pace import Pace
from expert_bank.plan import Mode

PACE = Pace(every=2, swaps=2, tokens_per_swap=0, noise=0, margin=0, residence=0)


def made(mode: Mode = "mirror") -> Small:
    """Two layers, experts 0..3 of 8 hot."""
    return small([4, 4], mode, experts=8, first=[[0, 1, 2, 3]] * 2)


def serve(banks: Small, experts: list[int], times: int = 8) -> None:
    """Serve forwards of both layers that pick these experts, and hold them against a resident layer."""
    ids = torch.tensor([experts] * 4, dtype=torch.int32)
    for _ in range(times):
        banks.two_bank.barrier.forward()
        with banks.two_bank.counter.step(len(ids)):
            for layer in range(2):
                served = banks.served(banks.places(ids, layer), layer)
                assert served.equal(banks.resident(ids, layer))


def totals(banks: Small) -> tuple[int, int]:
    """Swaps and failures so far."""
    return banks.two_bank.barrier.totals.swaps, banks.two_bank.barrier.totals.failed


def row_bytes(banks: Small) -> int:
    """Bytes that a swap of a mirror copies."""
    return banks.two_bank.swapper.banks[0].row_bytes
