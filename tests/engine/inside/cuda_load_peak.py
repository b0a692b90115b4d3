"""Checks of a load under a capped share of a GPU's memory: ``cuda_load_peak.py RESULT``.

Layers are made whole in host memory, brought to the device raw and repacked there one at a time, and
moved into banks by what a lane does it with; the order is ours here, and a load's own elsewhere.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from checks import DEVICE, bits, tell

from expert_bank.bank import LayerBank, RowTensor, placed
from expert_bank.cuda_registration import register_with_cuda, unregister_with_cuda
from expert_bank.filling import fill
from expert_bank.host_memory import HostMemory
from expert_bank.row_sums import row_sums, tensor_sums
from expert_bank.two_allocations import TwoAllocations

LAYERS, EXPERTS, HOT = 16, 16, 8
MIB = 2**20
SHAPES = {"w13_weight": (2048, 1024), "w2_weight": (1024, 1024)}
DTYPE = torch.bfloat16
ROW = 2 * (2048 + 1024) * 1024
LAYER, BANKS = EXPERTS * ROW, LAYERS * HOT * ROW
# The banks, one layer raw and one repacked.
RULE = BANKS + 2 * LAYER
# What torch's allocator may lose to holes, which it counts as taken.
CAP = RULE + 2 * LAYER


def loaded(layer: int) -> list[torch.Tensor]:
    """[E, ...] of each row tensor, in host memory."""
    source = torch.Generator().manual_seed(layer)
    return [
        torch.randint(-100, 100, (EXPERTS, *shape), generator=source).to(DTYPE)
        for shape in SHAPES.values()
    ]


@contextmanager
def capped(most: int) -> Iterator[None]:
    """Have torch get so many bytes of the device, and no more."""
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    whole = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(most / whole)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


def repacked(layer: int) -> list[torch.Tensor]:
    """Bring a layer to the device, and make another of it there, as a kernel's own layout is."""
    raw = [each.to(DEVICE) for each in loaded(layer)]
    return [each.flip(-1) for each in raw]


def banks_are_filled_a_layer_at_a_time_where_all_rows_do_not_fit() -> None:
    """One layer raw and one repacked beside the banks, and every row is whole where it lies."""
    allocate = TwoAllocations(DEVICE, register_with_cuda, unregister_with_cuda)
    memory, made = HostMemory(), []
    shapes = {name: (DTYPE, shape) for name, shape in SHAPES.items()}
    where = list(zip(*placed(range(HOT), EXPERTS, "mirror"), strict=True))
    assert CAP < LAYERS * LAYER
    with capped(CAP):
        before = torch.cuda.memory_allocated()
        for layer in range(LAYERS):
            rows = repacked(layer)
            bank = LayerBank(
                f"layers.{layer}", EXPERTS, "mirror", allocate(shapes, HOT, EXPERTS, memory)
            )
            fill(bank, rows, where)
            made.append((bank, tensor_sums(rows)))
            del rows
        peak = torch.cuda.max_memory_allocated() - before
    assert BANKS <= peak <= RULE + MIB, (BANKS, peak, RULE)
    for bank, sums in made:
        for number, tensor in enumerate(bank.tensors):
            require(tensor, sums[:, number])
    for each in allocate.registrations:
        each.close()


def require(tensor: RowTensor, sums: torch.Tensor) -> None:
    """Every row, in either bank, has the checksum that it was repacked with."""
    assert bits(row_sums(tensor.hot)) == bits(sums[:HOT])
    assert bits(row_sums(tensor.cold)) == bits(sums)


def all_rows_do_not_fit_under_the_cap() -> None:
    """The negative control: with every expert on the device the load fails there."""
    kept: list[list[torch.Tensor]] = []
    with capped(CAP):
        try:
            kept.extend(repacked(layer) for layer in range(LAYERS))
        except torch.cuda.OutOfMemoryError:
            assert len(kept) < LAYERS
        else:
            raise AssertionError("all rows fit")


CHECKS = (
    banks_are_filled_a_layer_at_a_time_where_all_rows_do_not_fit,
    all_rows_do_not_fit_under_the_cap,
)


if __name__ == "__main__":
    tell(CHECKS)
