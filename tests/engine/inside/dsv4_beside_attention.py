"""DeepSeek-V4's attention in torch and in vLLM's kernels, and what both keep in its cache."""

from typing import Any

import torch
from dsv4_reference import BLOCK, OPS, angles, drawn, empty, near
from own_ops import own, quantise_alike, round_alike
from shims import _dsv4_cache as cache

FP8 = torch.float8_e4m3fn
# vLLM rounds keys' shares to bfloat16, and both round the sum: by half of 2**-8 each. What is
# summed may be some times as large as the sum.
SHARES = 2**-6
# Below it a number's exponent is not of its own.
NORMAL = 2**-6


def regions(kept: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Part a cache into float8 as bytes, bfloat16, and the bytes of scales."""
    tokens = kept[:, : BLOCK * 576].unflatten(1, (BLOCK, 576))
    rotated = tokens[..., 448:].contiguous().view(torch.bfloat16)
    return tokens[..., :448], rotated, kept[:, BLOCK * 576 :]


def kept_alike(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    """Assert that two caches hold the same, but for what may be rounded otherwise."""
    a, b = regions(ours), regions(theirs)
    quantise_alike(a[0], b[0])
    assert torch.equal(a[1].isnan(), b[1].isnan())
    round_alike(a[1].nan_to_num(), b[1].nan_to_num())
    assert torch.equal(a[2], b[2])


def inserted(
    ops: Any,  # noqa: ANN401 - torch has no name for it
    q: torch.Tensor,
    kv: torch.Tensor,
    slots: torch.Tensor,
    padded: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Insert keys: the queries, and the cache."""
    kept, positions = empty(BLOCK * 584), torch.arange(q.shape[0]) * 3
    found = ops.fused_qnorm_rope_kv_insert_cpu(
        q, kv, positions, kept, slots, angles(64), padded, 1e-6, BLOCK
    )
    return found, kept


def queries_and_keys_agree() -> None:
    """Large keys and small ones; a token without a slot, padded heads, and padded tokens."""
    own_ops = own("fused_qnorm_rope_kv_insert_cpu")
    draw = torch.Generator().manual_seed(1)
    kv = (drawn(17, 512, seed=2) * torch.logspace(-5, 2, 17)[:, None]).bfloat16()
    for heads, padded in ((1, 1), (2, 3), (64, 64)):
        for last in (17, 12):
            q = (drawn(17, heads, 512) * 3).bfloat16()
            slots = torch.randperm(20, generator=draw)[:last]
            slots[3] = -1
            ours, theirs = (inserted(ops, q, kv, slots, padded) for ops in (OPS, own_ops))
            round_alike(ours[0], theirs[0])
            kept_alike(ours[1], theirs[1])


def numbers_below_the_least_normal_are_written() -> None:
    """The stand-in writes the nearest number there is; vLLM does, or 0 below the least normal."""
    own_ops = own("fused_qnorm_rope_kv_insert_cpu")
    every = torch.arange(2**16).to(torch.int16).view(torch.bfloat16)
    given = every[every.float().abs() <= 1.0]
    # With the largest number in each tile, all scales are 1.
    given = torch.cat([given, given.new_zeros(-len(given) % (20 * 63 * 7))]).view(-1, 20, 7, 63)
    there = torch.arange(127, dtype=torch.uint8).view(FP8).double()
    lost = 0
    for rows in given:
        tiles = torch.cat([rows, torch.full((20, 7, 1), 448.0).bfloat16()], dim=-1)
        kv = torch.cat([tiles.flatten(1), torch.zeros(20, 64).bfloat16()], dim=1)
        ours, theirs = (
            regions(inserted(ops, kv.unsqueeze(1), kv, torch.arange(20), 1)[1])[0].flatten(0, 1)
            for ops in (OPS, own_ops)
        )
        numbers = kv[:, :448].double()
        least = (numbers.abs().unsqueeze(-1) - there).abs().amin(-1)
        off = ours.view(FP8).double() - numbers
        assert torch.equal(off.abs(), least)
        differ = ours != theirs
        assert bool((numbers.abs() < NORMAL)[differ].all())
        assert not (theirs & 0x7F)[differ].any()
        lost += int(differ.sum())
    if not lost:
        raise AssertionError("vLLM writes them, too: quantise_alike may be stricter")


def every_number_is_read() -> None:
    """As the format has it; vLLM reads those below the least normal as up to half of it more."""
    own_ops = own("flash_mla_with_kvcache_cpu")
    numbers = torch.tensor([at for at in range(256) if at & 0x7F != 0x7F] * 2, dtype=torch.uint8)
    for scale in (114, 120, 127, 133):
        kept = torch.zeros(1, BLOCK * 584, dtype=torch.uint8)
        kept[0, :448], kept[0, BLOCK * 576 :] = numbers[:448], scale
        found = []
        for ops in (OPS, own_ops):
            out = torch.empty(1, 1, 512, dtype=torch.bfloat16)
            # All of the only key: there is no sink.
            ops.flash_mla_with_kvcache_cpu(
                *(out, torch.zeros_like(out), kept, torch.tensor([[0, -1]]), BLOCK, kept),
                *(torch.empty(1, 0, dtype=torch.int64), BLOCK, torch.tensor([-1e30]), 1.0),
            )
            found.append(out[0, 0, :448].double())
        right = numbers[:448].view(FP8).double() * 2.0 ** (scale - 127)
        assert torch.equal(found[0], right)
        normal = right.abs() >= NORMAL * 2.0 ** (scale - 127)
        assert torch.equal(found[1][normal], right[normal])
        assert (found[1] - right).abs().max() <= NORMAL / 2 * 2.0 ** (scale - 127)


def attended(ops: Any, heads: int, width: int, more: int) -> torch.Tensor:  # noqa: ANN401
    """Attend from five tokens to some slots of two caches, of which some are not there."""
    caches = [empty(BLOCK * 584), empty(BLOCK * 584)]
    for seed, each in enumerate(caches):
        cache.store(each, torch.arange(1, 18), BLOCK, drawn(17, 512, seed=seed))
    draw = torch.Generator().manual_seed(5)
    slots = [torch.randint(1, 18, (5, count), generator=draw) for count in (width, more)]
    slots[0][:, -2:] = -1
    slots[1][:, more // 2 :] = -1
    q, sink = drawn(5, heads, 512, seed=6).bfloat16(), drawn(heads, seed=7)
    out = torch.empty(5, heads, 512, dtype=torch.bfloat16)
    ops.flash_mla_with_kvcache_cpu(
        *(out, q, caches[0], slots[0], BLOCK, caches[1], slots[1], BLOCK, sink, 512**-0.5)
    )
    return out


def attention_agrees() -> None:
    """Of one cache and of two, as many keys as in use, and of a token that has none."""
    own_ops = own("flash_mla_with_kvcache_cpu")
    for heads in (1, 2, 64):
        for width, more in ((6, 0), (6, 7), (33, 100), (128, 512), (2, 0)):
            ours, theirs = (attended(ops, heads, width, more) for ops in (OPS, own_ops))
            assert near(ours, theirs, SHARES), (heads, width, more)


def turning_back_agrees() -> None:
    """In float32: the order of one sum of two."""
    own_ops = own("inverse_gptj_rope_o_proj_cpu")
    for heads in (1, 2, 64):
        o, positions = drawn(5, heads, 512).bfloat16(), torch.tensor([0, 3, 9, 22, 63])
        ours, theirs = (
            ops.inverse_gptj_rope_o_proj_cpu(o, positions, angles(64), 64) for ops in (OPS, own_ops)
        )
        assert ours.dtype == theirs.dtype
        assert near(ours, theirs, 1e-6), heads


CHECKS = (
    queries_and_keys_agree,
    numbers_below_the_least_normal_are_written,
    every_number_is_read,
    attention_agrees,
    turning_back_agrees,
)
