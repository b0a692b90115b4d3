"""Layers of MXFP4 experts, and their answers worked out from the format's definition, in float64."""

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
from shims._mxfp4_in_torch import MXFP4

E, S, HIDDEN, INNER = 8, 3, 64, 96
E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
OAI = (1.702, 7.0)


@dataclass(frozen=True)
class Experts:
    """A layer, as the op is given it."""

    w1: torch.Tensor
    w2: torch.Tensor
    w1_scale: torch.Tensor
    w2_scale: torch.Tensor
    w1_bias: torch.Tensor | None
    w2_bias: torch.Tensor | None
    alpha: float | None
    limit: float | None

    def laid(self, places: torch.Tensor, count: int) -> "Experts":
        """Lay each expert's row at its place among ``count``; the others are NaN."""
        moved = {}
        for name, rows in vars(self).items():
            if isinstance(rows, torch.Tensor):
                whole = torch.empty(count, *rows.shape[1:], dtype=rows.dtype)
                whole.view(torch.uint8).fill_(0xFF)
                whole[places] = rows
                moved[name] = whole
        return replace(self, **moved)


@dataclass(frozen=True)
class Asked:
    """Tokens and what they pick."""

    x: torch.Tensor
    weights: torch.Tensor
    ids: torch.Tensor


def drawn(*, biased: bool = False, oai: bool = False) -> Experts:
    """Draw a layer: every byte of weights, and scales that make the activation's clamps matter."""
    draw = torch.Generator().manual_seed(1)

    def of(low: int, high: int, *shape: int) -> torch.Tensor:
        return torch.randint(low, high, shape, dtype=torch.uint8, generator=draw)

    return Experts(
        of(0, 256, E, 2 * INNER, HIDDEN // 2),
        of(0, 256, E, HIDDEN, INNER // 2),
        of(120, 126, E, 2 * INNER, HIDDEN // 32),
        of(120, 126, E, HIDDEN, INNER // 32),
        torch.randn(E, 2 * INNER, generator=draw) if biased else None,
        torch.randn(E, HIDDEN, generator=draw) if biased else None,
        *(OAI if oai else (None, None)),
    )


def asked(tokens: int) -> Asked:
    """Draw tokens."""
    draw = torch.Generator().manual_seed(2)
    ids = torch.stack([torch.randperm(E, generator=draw)[:S] for _ in range(tokens)])
    x = torch.randn(tokens, HIDDEN, generator=draw).bfloat16()
    return Asked(x, torch.rand(tokens, S, generator=draw), ids.int())


def ask(
    ops: Any,  # noqa: ANN401 - torch has no name for it
    out: torch.Tensor,
    experts: Experts,
    question: Asked,
    method: int = MXFP4,
) -> None:
    """Ask a registered op, as vLLM does."""
    ops.fused_experts_cpu(
        *(out, question.x, experts.w1, experts.w2, question.weights, question.ids),
        *(method, experts.w1_scale, experts.w2_scale, None, None, None, None),
        *(experts.w1_bias, experts.w2_bias, experts.alpha, experts.limit, True),
    )


def layers() -> dict[str, Experts]:
    """Every kind of layer, by name."""
    return {
        "plain": drawn(),
        "biases": drawn(biased=True),
        "oai": drawn(oai=True),
        "oai with biases": drawn(biased=True, oai=True),
    }


def matrix(codes: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """Dequantise an expert's matrix number by number."""
    rows = []
    for bytes_, exponents in zip(codes.tolist(), scales.tolist(), strict=True):
        nibbles = [half for byte in bytes_ for half in (byte & 15, byte >> 4)]
        rows.append(
            [
                math.ldexp(-E2M1[nibble & 7] if nibble & 8 else E2M1[nibble], exponent - 127)
                for nibble, exponent in zip(
                    nibbles, (e for e in exponents for _ in range(32)), strict=True
                )
            ]
        )
    return torch.tensor(rows, dtype=torch.float64)


def reference(experts: Experts, question: Asked) -> torch.Tensor:
    """Work the answer out pick by pick, in float64."""
    first = [matrix(*each) for each in zip(experts.w1, experts.w1_scale, strict=True)]
    second = [matrix(*each) for each in zip(experts.w2, experts.w2_scale, strict=True)]
    out = torch.zeros(question.x.shape, dtype=torch.float64)
    for token, ids in enumerate(question.ids.tolist()):
        for slot, expert in enumerate(ids):
            inner = first[expert] @ question.x[token].double()
            if experts.w1_bias is not None:
                inner += experts.w1_bias[expert]
            if experts.alpha is None or experts.limit is None:
                gate, up = inner[:INNER], inner[INNER:]
                hidden = gate / (1 + torch.exp(-gate)) * up
            else:
                gate, up = inner.view(INNER, 2).unbind(1)
                gate = torch.minimum(gate, torch.tensor(experts.limit))
                up = torch.minimum(up.abs(), torch.tensor(experts.limit)) * up.sign()
                hidden = gate / (1 + torch.exp(-experts.alpha * gate)) * (up + 1)
            answer = second[expert] @ hidden
            if experts.w2_bias is not None:
                answer += experts.w2_bias[expert]
            out[token] += question.weights[token, slot] * answer
    return out
