"""The attention of DeepSeek-V4's port for CPUs, and what its queries and keys are.

Names and arguments are those of the ops in vLLM's ``_custom_ops``.
"""

import torch

from shims._dsv4_cache import load, rotated, store

# Tokens whose keys are gathered at once.
GATHERED = 32


def fused_qnorm_rope_kv_insert_cpu(
    q: torch.Tensor,
    kv: torch.Tensor,
    positions: torch.Tensor,
    swa_kv_cache_2d: torch.Tensor,
    slot_mapping: torch.Tensor,
    cos_sin_cache: torch.Tensor,
    q_head_padded: int,
    eps: float,
    cache_block_size: int,
) -> torch.Tensor:
    """Normalise and rotate queries [N, heads, 512]; rotate and store keys [N, 512]."""
    wide = q.float()
    wide *= torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    found = q.new_zeros(q.shape[0], q_head_padded, q.shape[2])
    found[:, : q.shape[1]] = rotated(wide, positions, cos_sin_cache).to(q.dtype)
    kept = (slot_mapping >= 0).nonzero().squeeze(1)
    rows = rotated(kv[kept].float(), positions[kept], cos_sin_cache)
    store(swa_kv_cache_2d, slot_mapping[kept], cache_block_size, rows)
    return found


def flash_mla_with_kvcache_cpu(
    out: torch.Tensor,
    q: torch.Tensor,
    window_cache_2d: torch.Tensor,
    window_slots: torch.Tensor,
    window_block_size: int,
    compressed_cache_2d: torch.Tensor,
    compressed_slots: torch.Tensor,
    compressed_block_size: int,
    attn_sink: torch.Tensor,
    scale: float,
) -> None:
    """Attend to the slots of two caches, those of -1 left out, and to a sink that has no value."""
    for start in range(0, q.shape[0], GATHERED):
        part = slice(start, start + GATHERED)
        slots = torch.cat([window_slots[part], compressed_slots[part]], dim=1)
        keys = load(window_cache_2d, window_slots[part].clamp(min=0), window_block_size)
        if compressed_slots.shape[1]:
            more = compressed_slots[part].clamp(min=0)
            keys = torch.cat([keys, load(compressed_cache_2d, more, compressed_block_size)], dim=1)
        # What is not there may be NaN.
        keys.masked_fill_((slots < 0).unsqueeze(-1), 0.0)
        scores = torch.bmm(q[part].float(), keys.mT) * scale
        scores.masked_fill_((slots < 0).unsqueeze(1), -torch.inf)
        sink = attn_sink.expand(scores.shape[0], -1).unsqueeze(-1)
        shares = torch.cat([scores, sink], dim=-1).softmax(-1)[..., :-1]
        out[part] = torch.bmm(shares, keys).to(out.dtype)


def inverse_gptj_rope_o_proj_cpu(
    o: torch.Tensor, positions: torch.Tensor, cos_sin_cache: torch.Tensor, _rope_dim: int
) -> torch.Tensor:
    """Turn the end of [N, heads, 512] back: float32."""
    return rotated(o.float(), positions, cos_sin_cache, back=True)
