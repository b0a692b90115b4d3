"""Windows of tokens as one key each, in DeepSeek-V4's port for CPUs.

Names and arguments are those of the ops in vLLM's ``_custom_ops``.
"""

import torch

from shims._dsv4_cache import HEAD, INDEXER, INDEXER_SCALE, indexed, place, rotated, store


def save_partial_states_cpu(
    kv: torch.Tensor,
    score: torch.Tensor,
    ape: torch.Tensor,
    positions: torch.Tensor,
    state_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
) -> None:
    """Store values and scores, both [N, W], side by side in [blocks, slots, 2 * W]."""
    rows = torch.cat([kv, score + ape[positions % ape.shape[0]]], dim=1)
    kept = slot_mapping >= 0
    block = state_cache.shape[1]
    state_cache[slot_mapping[kept] // block, slot_mapping[kept] % block] = rows[kept]


def _compressed(
    head: int,
    state_cache: torch.Tensor,
    gather_slots: torch.Tensor,
    positions: torch.Tensor,
    kv_slot_mapping: torch.Tensor,
    rms_norm_weight: torch.Tensor,
    rms_norm_eps: float,
    compress_ratio: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Pool each window that ends here, channel by channel: slots, first positions, [N, head]."""
    ends = ((positions + 1) % compress_ratio == 0) & (kv_slot_mapping >= 0)
    slots, kept = gather_slots[ends], kv_slot_mapping[ends]
    block = state_cache.shape[1]
    safe = slots.clamp(min=0)
    values, scores = state_cache[safe // block, safe % block].chunk(2, dim=-1)
    # Where windows overlap, the later half has its own channels.
    later = torch.arange(slots.shape[1]) >= compress_ratio
    shift = (later * head).unsqueeze(-1) + torch.arange(head)
    shift = shift.expand(slots.shape[0], -1, -1)
    missing = (slots < 0).unsqueeze(-1)
    shares = scores.gather(-1, shift).masked_fill(missing, -torch.inf).softmax(1)
    pooled = (shares * values.gather(-1, shift).masked_fill(missing, 0.0)).sum(1)
    pooled *= torch.rsqrt(pooled.square().mean(-1, keepdim=True) + rms_norm_eps) * rms_norm_weight
    return kept, positions[ends] // compress_ratio * compress_ratio, pooled


def compress_norm_rope_store_cpu(
    state_cache: torch.Tensor,
    gather_slots: torch.Tensor,
    positions: torch.Tensor,
    kv_slot_mapping: torch.Tensor,
    rms_norm_weight: torch.Tensor,
    rms_norm_eps: float,
    cos_sin_cache: torch.Tensor,
    kv_cache_2d: torch.Tensor,
    kv_cache_block_size: int,
    compress_ratio: int,
) -> None:
    """Store the keys of windows that end here in the attention's cache."""
    slots, first, pooled = _compressed(
        *(HEAD, state_cache, gather_slots, positions, kv_slot_mapping),
        *(rms_norm_weight, rms_norm_eps, compress_ratio),
    )
    store(kv_cache_2d, slots, kv_cache_block_size, rotated(pooled, first, cos_sin_cache))


def compress_norm_rope_store_indexer_cpu(
    state_cache: torch.Tensor,
    gather_slots: torch.Tensor,
    positions: torch.Tensor,
    kv_slot_mapping: torch.Tensor,
    rms_norm_weight: torch.Tensor,
    rms_norm_eps: float,
    cos_sin_cache: torch.Tensor,
    kv_cache_2d: torch.Tensor,
    kv_cache_block_size: int,
    compress_ratio: int,
) -> None:
    """Store the keys of windows that end here in the indexer's cache."""
    slots, first, pooled = _compressed(
        *(INDEXER, state_cache, gather_slots, positions, kv_slot_mapping),
        *(rms_norm_weight, rms_norm_eps, compress_ratio),
    )
    values, scales = indexed(rotated(pooled, first, cos_sin_cache).bfloat16().float())
    block = kv_cache_block_size
    kv_cache_2d[place(slots, block, INDEXER)] = values.view(torch.uint8)
    kv_cache_2d[place(slots, block, INDEXER_SCALE, block * INDEXER)] = scales.unsqueeze(-1).view(
        torch.uint8
    )
