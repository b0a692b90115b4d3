"""MXFP4 experts in plain torch, for builds of vLLM's CPU extension that have no op for them.

The three ops have vLLM's names and arguments. A row is left as it was loaded: two e2m1 codes a
byte, the first in the low half, and an e8m0 byte for the scale of 32 of them. All is float32 from
the dequantised weight to the sum, and each pick is a product of its own, so that its bits know
neither where its row lies nor what else is in the batch.
"""

import torch

# As vLLM's ``CPUQuantMethod`` numbers it.
MXFP4 = 4
GROUP = 32
SCHEMAS = {
    "convert_weight_packed": "(Tensor weight) -> Tensor",
    "convert_scale_packed": "(Tensor scale) -> Tensor",
    "fused_experts_cpu": "(Tensor(a0!) out, Tensor hidden_states, Tensor w1, Tensor w2,"
    " Tensor topk_weights, Tensor topk_ids, int moe_comp_method, Tensor? w1_scale,"
    " Tensor? w2_scale, Tensor? w1_zero, Tensor? w2_zero, Tensor? a1_scale, int[]? block_size,"
    " Tensor? w1_bias, Tensor? w2_bias, float? alpha, float? limit, bool is_vnni) -> ()",
}
# What is registered lasts as long as its library.
LIBRARIES: list[torch.library.Library] = []

_E2M1 = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
_CODES = torch.cat([_E2M1, -_E2M1])
_BYTES = torch.arange(256)
# Of a byte of weights: its two values; of a byte of scales: its power of two, and NaN for the last.
_PAIRS = torch.stack([_CODES[_BYTES % 16], _CODES[_BYTES // 16]], dim=1)
_POWERS = torch.pow(2.0, _BYTES.double() - 127).float()
_POWERS[255] = torch.nan


def register(namespace: str = "_C") -> None:
    """Register the ops, none of which may be there, and what they are to a compiler."""
    library = torch.library.Library(namespace, "FRAGMENT")
    LIBRARIES.append(library)
    for name, schema in SCHEMAS.items():
        library.define(name + schema)
    for name in ("convert_weight_packed", "convert_scale_packed"):
        library.impl(name, packed, "CPU")
        library.impl(name, torch.empty_like, "Meta")
    library.impl("fused_experts_cpu", fused_experts, "CPU")


def packed(rows: torch.Tensor) -> torch.Tensor:
    """Copy rows of weights or scales: they are read as they are loaded."""
    return rows.clone()


def dequantised(codes: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """Make an expert's weights of codes [N, K / 2] and scales [N, K / 32], both uint8.

    Returns:
        float32 [N, K].
    """
    values = _PAIRS.index_select(0, codes.reshape(-1).int())
    powers = _POWERS.index_select(0, scales.reshape(-1).int())
    return (values.view(-1, GROUP) * powers[:, None]).view(codes.shape[0], -1)


def products(x: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Multiply each row of [M, K] by weights [N, K], apart from the others: [M, N]."""
    each = weights.t().expand(x.shape[0], -1, -1)
    return torch.bmm(x.unsqueeze(1), each).squeeze(1)


def activated(inner: torch.Tensor, alpha: float | None, limit: float | None) -> torch.Tensor:
    """SiLU of the first half by the second; with alpha and limit, SwigluOAI of pairs.

    As vLLM's own op does: one of the two alone is not looked at.
    """
    if alpha is None or limit is None:
        gate, up = inner.chunk(2, dim=-1)
        return torch.nn.functional.silu(gate) * up
    gate, up = inner[:, 0::2].clamp(max=limit), inner[:, 1::2].clamp(-limit, limit)
    return gate * torch.sigmoid(alpha * gate) * (up + 1)


def fused_experts(
    out: torch.Tensor,
    hidden_states: torch.Tensor,
    w1: torch.Tensor,
    w2: torch.Tensor,
    topk_weights: torch.Tensor,
    topk_ids: torch.Tensor,
    moe_comp_method: int,
    w1_scale: torch.Tensor | None,
    w2_scale: torch.Tensor | None,
    w1_zero: torch.Tensor | None,  # noqa: ARG001 - vLLM's arguments
    w2_zero: torch.Tensor | None,  # noqa: ARG001 - the same
    a1_scale: torch.Tensor | None,  # noqa: ARG001 - the same
    block_size: list[int] | None,  # noqa: ARG001 - the same
    w1_bias: torch.Tensor | None,
    w2_bias: torch.Tensor | None,
    alpha: float | None,
    limit: float | None,
    is_vnni: bool,  # noqa: ARG001, FBT001 - the same
) -> None:
    """Run the experts of each token, weigh and sum them in slot order.

    Args:
        out: [M, H], written in its own dtype; may be ``hidden_states``.
        hidden_states: [M, H], any float.
        w1: uint8 [E, 2 * I, H / 2], gate then up; pairs of them with alpha and limit.
        w2: uint8 [E, H, I / 2].
        topk_weights: [M, S].
        topk_ids: [M, S], rows of w1 and w2.
        moe_comp_method: MXFP4.
        w1_scale: uint8 [E, 2 * I, H / 32].
        w2_scale: uint8 [E, H, I / 32].
        w1_zero: Not looked at.
        w2_zero: The same.
        a1_scale: The same.
        block_size: The same; it is 32.
        w1_bias: float32 [E, 2 * I].
        w2_bias: float32 [E, H].
        alpha: Of SwigluOAI's sigmoid.
        limit: Of SwigluOAI's clamps.
        is_vnni: Not looked at; rows are packed as they are loaded.

    Raises:
        NotImplementedError: The experts are packed otherwise.
        IndexError: There is no such row.
    """
    if moe_comp_method != MXFP4 or w1_scale is None or w2_scale is None:
        raise NotImplementedError(f"torch stands in for MXFP4 alone, not for {moe_comp_method}")
    slots = topk_ids.shape[1]
    x = hidden_states.float()
    picks = topk_ids.reshape(-1)
    if bool((picks < 0).any()):
        # vLLM's op has no such picks, either.
        raise IndexError("a pick names a row below 0")
    found = x.new_zeros(picks.numel(), x.shape[1])
    for row in picks.unique().tolist():
        which = (picks == row).nonzero().squeeze(1)
        inner = products(x[which // slots], dequantised(w1[row], w1_scale[row]))
        if w1_bias is not None:
            inner += w1_bias[row]
        outer = products(activated(inner, alpha, limit), dequantised(w2[row], w2_scale[row]))
        if w2_bias is not None:
            outer += w2_bias[row]
        found[which] = outer
    weighted = found.view(-1, slots, x.shape[1]) * topk_weights.float().unsqueeze(-1)
    total = torch.zeros_like(x)
    for slot in range(slots):
        total += weighted[:, slot]
    out.copy_(total)
