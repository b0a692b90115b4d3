"""Checks of how torch mixes streams and routes for DeepSeek-V4: ``dsv4_mixing.py RESULT``.

They run on any CPU. Streams are held against what vLLM has for them in torch, experts against
Python's own numbers.
"""

import math

import torch
from checks import tell
from dsv4_reference import NAMESPACE, OPS, drawn, near
from shims import _deepseek_v4_in_torch as stand_in
from shims import deepseek_v4_on_cpu as shim
from vllm.model_executor.kernels.mhc.torch import mhc_post_torch, mhc_pre_torch

# vLLM's arguments that are not looked at by their names.
TRUE = True


def every_op_is_stood_in_for() -> None:
    """Those that the shim looks for."""
    assert {op.__name__ for op in stand_in.OPS} == set(shim.OPS)


def streams_are_mixed_as_vllm_does_in_torch() -> None:
    """Before a block, behind it, and behind the last."""
    x, fn = drawn(5, 4, 64).bfloat16(), drawn(24, 256, seed=2) / 8
    scale, base = drawn(3, seed=3), drawn(24, seed=4)
    y, post, comb = OPS.hc_pre_fused_cpu(x, fn, scale, base, 4, 4, 1e-5, 1e-6)
    expected = mhc_pre_torch(x, fn, scale, base, 1e-5, 1e-6, 1e-6, 2.0, 4)
    for found, wanted in zip((post.unsqueeze(-1), comb), expected[:2], strict=True):
        assert near(found, wanted)
    assert near(y, expected[2], 0.01)
    spread = OPS.hc_post_fused_cpu(y, x, post, comb)
    assert near(spread, mhc_post_torch(y, x, post.unsqueeze(-1), comb), 0.01)
    head = OPS.hc_head_fused_cpu(x, fn[:4].contiguous(), scale[:1], base[:4], 1e-6, 1e-5)
    gates = mhc_pre_torch(
        *(x, fn, scale[:1].expand(3).contiguous(), base, 1e-5, 1e-6, 1e-6, 2.0, 4)
    )
    assert near(head, gates[2], 0.01)


def experts_are_chosen_and_weighed() -> None:
    """By biased scores, and by the tokens; weights are without the bias, and sum to the factor."""
    gating, bias = drawn(3, 64).bfloat16(), drawn(64, seed=2)
    weights, ids = OPS.biased_topk_cpu(gating, gating, bias, 6, TRUE, "sqrtsoftplus", 0, 1.5, TRUE)
    table = torch.randint(0, 64, (3, 6), generator=torch.Generator().manual_seed(3)).int()
    hashed = OPS.hash_topk_cpu(gating, table, 6, "sqrtsoftplus", 0, 64, 1.5)
    assert torch.equal(hashed[1], table)
    for token in range(3):
        scores = [math.sqrt(math.log1p(math.exp(each))) for each in gating[token].tolist()]
        order = sorted(range(64), key=lambda at: -(scores[at] + bias[at].item()))[:6]
        assert ids[token].tolist() == order
        for found, chosen in ((weights, order), (hashed[0], table[token].tolist())):
            total = sum(scores[at] for at in chosen)
            expected = torch.tensor([1.5 * scores[at] / total for at in chosen])
            assert near(found[token], expected)


def packed_products_are_products() -> None:
    """Of each group apart."""
    x, packed = drawn(2, 3, 32).bfloat16(), drawn(2, 16, 32, seed=2).bfloat16()
    out = torch.empty(2, 3, 16, dtype=torch.bfloat16)
    OPS.bmm_cpu(out, x, packed, TRUE, None)
    assert near(out, torch.einsum("gnk,gmk->gnm", x.double(), packed.double()), 0.01)


CHECKS = (
    every_op_is_stood_in_for,
    streams_are_mixed_as_vllm_does_in_torch,
    experts_are_chosen_and_weighed,
    packed_products_are_products,
)


if __name__ == "__main__":
    stand_in.register(NAMESPACE)
    tell(CHECKS)
