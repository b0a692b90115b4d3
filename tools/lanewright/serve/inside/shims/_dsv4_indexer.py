"""Which keys a query of DeepSeek-V4 attends to, in the port for CPUs.

Names and arguments are those of the ops in vLLM's ``_custom_ops``.
"""

import torch

from shims._dsv4_cache import INDEXER, INDEXER_SCALE, indexed, place, rotated

TOPK = 512


def fused_indexer_q_rope_quant_cpu(
    positions: torch.Tensor,
    index_q: torch.Tensor,
    index_q_cos_sin_cache: torch.Tensor,
    index_q_fp8: torch.Tensor,
    index_weights: torch.Tensor,
    index_weights_softmax_scale: float,
    index_weights_head_scale: float,
    index_weights_out: torch.Tensor,
) -> None:
    """Rotate and quantise the indexer's queries [N, heads, 128]; weights [N, heads] take scales."""
    turned = rotated(index_q, positions, index_q_cos_sin_cache)
    end = index_q_cos_sin_cache.shape[-1]
    turned[..., -end:] = turned[..., -end:].bfloat16().float()
    values, scales = indexed(turned)
    index_q_fp8.copy_(values)
    weights = index_weights * scales * index_weights_softmax_scale * index_weights_head_scale
    index_weights_out.copy_(weights)


def fp8_paged_mqa_logits_cpu(
    q_fp8: torch.Tensor,
    kvcache_fp8: torch.Tensor,
    weight: torch.Tensor,
    seq_lens: torch.Tensor,
    page_table: torch.Tensor,
    block_size: int,
    max_seq_len: int,
) -> torch.Tensor:
    """Score the indexer's keys for queries [N, heads, 128]: [N, keys], -inf beyond the last."""
    tokens = torch.arange(max_seq_len).expand(q_fp8.shape[0], -1)
    beyond = tokens >= seq_lens.unsqueeze(1)
    pages = (tokens // block_size).clamp(max=page_table.shape[1] - 1)
    slots = page_table.gather(1, pages).long() * block_size + tokens % block_size
    slots.masked_fill_(beyond, 0)
    keys = kvcache_fp8[place(slots, block_size, INDEXER)].view(q_fp8.dtype).float()
    scales = kvcache_fp8[place(slots, block_size, INDEXER_SCALE, block_size * INDEXER)]
    scores = torch.bmm(q_fp8.float(), keys.mT).relu() * weight.unsqueeze(-1)
    found = scores.sum(1) * scales.contiguous().view(torch.float32).squeeze(-1)
    return found.masked_fill(beyond, -torch.inf)


def topk_transform_512_cpu(
    scores: torch.Tensor,
    seq_lens: torch.Tensor,
    page_tables: torch.Tensor,
    out_page_indices: torch.Tensor,
    page_size: int,
    out_raw_indices: torch.Tensor | None,
) -> None:
    """Choose 512 keys of each row, all where there are fewer, and -1 for the rest."""
    keys = torch.arange(scores.shape[1])
    lengths = seq_lens.clamp(0, scores.shape[1]).unsqueeze(1)
    masked = scores.masked_fill(keys >= lengths, -torch.inf)
    chosen = masked.topk(min(TOPK, scores.shape[1]), dim=1).indices
    whole = torch.arange(TOPK).expand(scores.shape[0], -1)
    chosen = torch.nn.functional.pad(chosen, (0, TOPK - chosen.shape[1]))
    raw = torch.where(lengths > TOPK, chosen, whole.where(whole < lengths, -1))
    pages = page_tables.gather(1, (raw.clamp(min=0) // page_size).long())
    physical = (pages * page_size + raw % page_size).where(raw >= 0, -1)
    out_page_indices[:, :TOPK] = physical.int()
    if out_raw_indices is not None:
        out_raw_indices[:, :TOPK] = raw.int()
