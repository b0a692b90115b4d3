"""Checks of rows that lie in host memory: ``host_rows.py RESULT``; needs torch and Triton.

On a GPU the memory is registered with CUDA, and the kernels read and write it in place.
"""

import torch
from banks import row_addresses
from checks import DEVICE, INTERPRETED, bits, tell
from maps import random_table

from expert_bank.bank import LayerBank, RowTensor
from expert_bank.cuda_registration import register_with_cuda, unregister_with_cuda
from expert_bank.filling import fill
from expert_bank.grouped_gemm import grouped_gemm_cuda
from expert_bank.host_memory import HostMemory
from expert_bank.launched_copy import LaunchedCopy
from expert_bank.row_address import expert_addresses
from expert_bank.table_layout import BANK, COLD, HOT, ROW
from expert_bank.two_allocations import TwoAllocations

EXPERTS, K, WIDTH, INTERMEDIATE = 8, 3, 64, 32
SHAPES = {"w13_weight": (2 * INTERMEDIATE, WIDTH), "w2_weight": (WIDTH, INTERMEDIATE)}
# ``tl.dot`` of bfloat16 is wrong in the interpreter.
DTYPES = (torch.float16, torch.bfloat16, torch.float32)[:: 2 if INTERPRETED else 1]
# Few picks and many, which have tiles of their own.
TOKENS = (1, 6, 180)
KEPT: list[object] = []


def allocated(dtype: torch.dtype, hot: int, cold: int) -> tuple[RowTensor, ...]:
    """Allocate as a CUDA lane does; the memory stays until the end."""
    calls = (register_with_cuda, unregister_with_cuda)
    if INTERPRETED:
        calls = (lambda *_: 0, lambda *_: 0)
    memory, allocate = HostMemory(), TwoAllocations(DEVICE, *calls)
    KEPT.extend((memory, allocate))
    return allocate({name: (dtype, shape) for name, shape in SHAPES.items()}, hot, cold, memory)


def weights(dtype: torch.dtype) -> list[torch.Tensor]:
    """[E, ...] of each row tensor, on the device."""
    source = torch.Generator().manual_seed(2)
    drawn = (torch.randn(EXPERTS, *shape, generator=source) / 8 for shape in SHAPES.values())
    return [each.to(dtype).to(DEVICE) for each in drawn]


def a_row_answers_alike_from_either_bank() -> None:
    """Each expert's by turns in the device's memory and in the host's: hot == cold == resident."""
    source = torch.Generator().manual_seed(3)
    for dtype in DTYPES:
        loaded = weights(dtype)
        tensors = allocated(dtype, EXPERTS, EXPERTS)
        bank = LayerBank("layer", EXPERTS, "mirror", tensors)
        for tokens in TOKENS:
            x = torch.randn(tokens, WIDTH, generator=source).to(dtype).to(DEVICE)
            ids = torch.rand(tokens, EXPERTS, generator=source).topk(K).indices.int().to(DEVICE)
            every = torch.arange(EXPERTS, device=DEVICE)
            resident = [row_addresses(each, every) for each in loaded]
            expected = bits(grouped_gemm_cuda(x, ids, *resident, intermediate=INTERMEDIATE))
            for expert in range(EXPERTS):
                table = torch.zeros(4, EXPERTS, dtype=torch.int32)
                table[ROW] = torch.arange(EXPERTS)
                for side in (HOT, COLD):
                    table[BANK] = side
                    table[BANK, expert] = 1 - side
                    for each in tensors:
                        each.hot.fill_(torch.nan)
                        each.cold.fill_(torch.nan)
                    fill(bank, loaded, list(zip(*table[[BANK, ROW]].tolist(), strict=True)))
                    addresses = [
                        expert_addresses(table.to(DEVICE), each.hot, each.cold) for each in tensors
                    ]
                    found = grouped_gemm_cuda(x, ids, *addresses, intermediate=INTERMEDIATE)
                    assert bits(found) == expected, (dtype, tokens, expert, side)


def rows_go_both_ways_by_one_launch() -> None:
    """From host memory to the device's and back, every byte, and no other row."""
    copy = LaunchedCopy(DEVICE)
    for dtype in DTYPES:
        tensors = allocated(dtype, 3, EXPERTS)
        loaded = weights(dtype)
        for tensor, rows in zip(tensors, loaded, strict=True):
            tensor.cold.copy_(rows)
            tensor.hot.fill_(torch.nan)
        copy([each.hot[1] for each in tensors], [each.cold[5] for each in tensors])
        for tensor in tensors:
            tensor.cold[2].fill_(torch.nan)
        copy([each.cold[2] for each in tensors], [each.hot[1] for each in tensors])
        for tensor, rows in zip(tensors, loaded, strict=True):
            assert bits(tensor.hot[1]) == bits(rows[5])
            assert tensor.hot[[0, 2]].isnan().all()
            expected = rows.clone()
            expected[2] = rows[5]
            assert bits(tensor.cold) == bits(expected)


def a_map_over_both_memories_is_the_resident_layer() -> None:
    """Drawn maps; what nobody has is NaN."""
    source = torch.Generator().manual_seed(4)
    for dtype in DTYPES:
        loaded, tensors = weights(dtype), allocated(dtype, 5, 7)
        bank = LayerBank("layer", EXPERTS, "exclusive", tensors)
        x = torch.randn(6, WIDTH, generator=source).to(dtype).to(DEVICE)
        ids = torch.rand(6, EXPERTS, generator=source).topk(K).indices.int().to(DEVICE)
        answers = set()
        for _ in range(20):
            table = random_table(source, experts=EXPERTS, hot=5, cold=7)
            for each in tensors:
                each.hot.fill_(torch.nan)
                each.cold.fill_(torch.nan)
            fill(bank, loaded, list(zip(*table[[BANK, ROW]].tolist(), strict=True)))
            addresses = [
                expert_addresses(table.to(DEVICE), each.hot, each.cold) for each in tensors
            ]
            found = grouped_gemm_cuda(x, ids, *addresses, intermediate=INTERMEDIATE)
            assert not found.isnan().any()
            answers.add(bits(found))
        assert len(answers) == 1


CHECKS = (
    a_row_answers_alike_from_either_bank,
    rows_go_both_ways_by_one_launch,
    a_map_over_both_memories_is_the_resident_layer,
)


if __name__ == "__main__":
    tell(CHECKS)
