"""What DeepSeek-V4's port for CPUs mixes and routes by: residual streams, and experts' scores.

Names and arguments are those of the ops in vLLM's ``_custom_ops``.
"""

import torch

from shims._mxfp4_in_torch import products


def _mixes(x: torch.Tensor, hc_fn: torch.Tensor, eps: float) -> torch.Tensor:
    """Mix normalised streams [N, streams, D] into float32 [N, rows of hc_fn]."""
    flat = x.flatten(1).float()
    return products(flat, hc_fn) * torch.rsqrt(flat.square().mean(-1, keepdim=True) + eps)


def _joined(x: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:
    """Sum streams [N, streams, D] by shares [N, streams]: [N, D]."""
    return (x.float() * shares.unsqueeze(-1)).sum(1).to(x.dtype)


def hc_pre_fused_cpu(
    x: torch.Tensor,
    hc_fn: torch.Tensor,
    hc_scale: torch.Tensor,
    hc_base: torch.Tensor,
    hc_mult: int,
    sinkhorn_iters: int,
    rms_eps: float,
    hc_eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Join streams for a block; how it is spread, and a doubly stochastic mix of the streams."""
    sizes = [hc_mult, hc_mult, hc_mult * hc_mult]
    mixes = _mixes(x, hc_fn, rms_eps).split(sizes, dim=-1)
    pre, post, comb = (
        mix * scale + base
        for mix, scale, base in zip(mixes, hc_scale, hc_base.split(sizes), strict=True)
    )
    comb = comb.unflatten(-1, (hc_mult, hc_mult)).softmax(-1) + hc_eps
    comb = comb / (comb.sum(-2, keepdim=True) + hc_eps)
    for _ in range(sinkhorn_iters - 1):
        comb = comb / (comb.sum(-1, keepdim=True) + hc_eps)
        comb = comb / (comb.sum(-2, keepdim=True) + hc_eps)
    return _joined(x, pre.sigmoid() + hc_eps), 2 * post.sigmoid(), comb


def hc_post_fused_cpu(
    x: torch.Tensor, residual: torch.Tensor, post: torch.Tensor, comb: torch.Tensor
) -> torch.Tensor:
    """Spread a block's output over streams that are mixed: [N, streams, D]."""
    mixed = (comb.unsqueeze(-1) * residual.float().unsqueeze(2)).sum(1)
    return (post.unsqueeze(-1) * x.float().unsqueeze(1) + mixed).to(x.dtype)


def hc_head_fused_cpu(
    x: torch.Tensor,
    hc_fn: torch.Tensor,
    hc_scale: torch.Tensor,
    hc_base: torch.Tensor,
    hc_eps: float,
    norm_eps: float,
) -> torch.Tensor:
    """Join streams behind the last block: [N, D]."""
    return _joined(x, (_mixes(x, hc_fn, norm_eps) * hc_scale + hc_base).sigmoid() + hc_eps)


def bmm_cpu(
    out: torch.Tensor,
    mat1: torch.Tensor,
    mat2: torch.Tensor,
    _is_vnni: bool,  # noqa: FBT001 - vLLM's arguments
    scale: torch.Tensor | None,
) -> None:
    """Multiply [G, N, K] by packed [G, M, K], which are as they were: [G, N, M]."""
    if scale is not None:
        raise NotImplementedError("torch stands in for unscaled products alone")
    for group, (ours, theirs) in enumerate(zip(mat1.float(), mat2.float(), strict=True)):
        out[group] = products(ours, theirs).to(out.dtype)


def _scores(gating_output: torch.Tensor, scoring_func: str, shared: int) -> torch.Tensor:
    if shared:
        raise NotImplementedError("torch stands in for routing without shared experts alone")
    match scoring_func:
        case "sqrtsoftplus":
            return torch.nn.functional.softplus(gating_output.float()).sqrt()
        case "sigmoid":
            return gating_output.float().sigmoid()
        case "softmax":
            return gating_output.float().softmax(-1)
    raise NotImplementedError(f"torch does not stand in for scores by {scoring_func}")


def biased_topk_cpu(
    _hidden_states: torch.Tensor,
    gating_output: torch.Tensor,
    correction_bias: torch.Tensor,
    topk: int,
    renormalize: bool,  # noqa: FBT001 - vLLM's arguments
    scoring_func: str,
    num_fused_shared_experts: int,
    routed_scaling_factor: float | None,
    apply_routed_scaling_factor_on_output: bool,  # noqa: FBT001 - the same
) -> tuple[torch.Tensor, torch.Tensor]:
    """Choose experts by biased scores; their weights are without the bias."""
    if scoring_func == "softmax":
        raise NotImplementedError("experts are not chosen by softmax, nor are they by vLLM's op")
    scores = _scores(gating_output, scoring_func, num_fused_shared_experts)
    ids = (scores + correction_bias.float()).topk(topk, dim=-1).indices
    weights = scores.gather(1, ids)
    if renormalize:
        factor = routed_scaling_factor or 0.0 if apply_routed_scaling_factor_on_output else 1.0
        weights = weights * (factor / weights.sum(-1, keepdim=True))
    return weights, ids.int()


def hash_topk_cpu(
    gating_output: torch.Tensor,
    tid2eid: torch.Tensor,
    _topk: int,
    scoring_func: str,
    num_fused_shared_experts: int,
    _num_experts: int,
    routed_scaling_factor: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Weigh experts [N, topk] that the tokens themselves chose."""
    scores = _scores(gating_output, scoring_func, num_fused_shared_experts)
    weights = scores.gather(1, tid2eid.long())
    if scoring_func != "softmax":
        total = weights.sum(-1, keepdim=True)
        weights = torch.where(total > 0, weights * (routed_scaling_factor / total), weights)
    return weights, tid2eid.int()
