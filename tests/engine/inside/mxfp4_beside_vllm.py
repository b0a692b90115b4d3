"""Holds the MXFP4 experts that torch stands in with against vLLM's: ``mxfp4_beside_vllm.py RESULT``.

vLLM's own rows are packed by its own ops. All checks are skipped where its build has none.
"""

from dataclasses import replace

import torch
from checks import bits, tell
from dsv4_reference import near
from mxfp4_in_torch import NAMESPACE, OPS, TOKENS
from mxfp4_reference import Asked, Experts, ask, asked, drawn, layers, reference
from own_ops import own, require_kept
from shims import _mxfp4_in_torch as stand_in
from shims import mxfp4_without_amx as shim

# vLLM rounds to bfloat16 what is activated, each pick's answer, and the sum, and torch the sum
# alone; each by half of 2**-8 at most. The largest number is as large as what it is a sum of.
ROUNDED = 0.01


def theirs(experts: Experts, question: Asked) -> torch.Tensor:
    """Ask vLLM's op, about rows packed by vLLM."""
    ops = own(*shim.OPS)
    out = torch.full(question.x.shape, torch.nan, dtype=torch.bfloat16)
    packed = replace(
        experts,
        w1=ops.convert_weight_packed(experts.w1),
        w2=ops.convert_weight_packed(experts.w2),
        w1_scale=ops.convert_scale_packed(experts.w1_scale),
        w2_scale=ops.convert_scale_packed(experts.w2_scale),
    )
    ask(ops, out, packed, question)
    return out


def ours(experts: Experts, question: Asked) -> torch.Tensor:
    """Ask the stand-in the same."""
    out = torch.full(question.x.shape, torch.nan, dtype=torch.bfloat16)
    ask(OPS, out, experts, question)
    return out


def answers_agree() -> None:
    """Of every kind of layer, with few tokens for an expert and with many; both are right."""
    kinds = {**layers(), "clamped": replace(drawn(biased=True, oai=True), limit=0.5)}
    for name, experts in kinds.items():
        for tokens in (*TOKENS, 64):
            question = asked(tokens)
            right = reference(experts, question)
            found, vllms = ours(experts, question), theirs(experts, question)
            assert near(vllms, right, ROUNDED), (name, tokens)
            assert near(found, right, ROUNDED), (name, tokens)
            assert near(found, vllms, ROUNDED), (name, tokens)


def every_usual_scale_agrees() -> None:
    """From 2**-107 to 2**103; beyond, their products leave bfloat16."""
    question = asked(2)
    for byte in range(20, 231):
        experts = replace(drawn(), w2_scale=torch.full_like(drawn().w2_scale, byte))
        assert near(ours(experts, question), theirs(experts, question), ROUNDED), byte


def one_clamp_without_the_other_is_none() -> None:
    """In both."""
    question = asked(17)
    for half in (replace(drawn(), limit=0.5), replace(drawn(), alpha=1.702)):
        for op in (ours, theirs):
            assert bits(op(half, question)) == bits(op(drawn(), question))


def a_row_that_is_not_there_is_refused() -> None:
    """By both, where a slot picks nothing."""
    question = asked(17)
    question.ids[3, 1] = -1
    for op, error in ((ours, IndexError), (theirs, RuntimeError)):
        try:
            op(drawn(), question)
        except error:
            continue
        raise AssertionError(op)


def what_is_there_is_not_replaced() -> None:
    """Neither by the shim, nor by hand."""
    # The shim does nothing where there is AMX.
    amx = torch.cpu._is_amx_tile_supported()  # noqa: SLF001 - torch has no public name for it
    require_kept(shim.OPS, (lambda: None) if amx else shim.after_vllm, stand_in.register)


CHECKS = (
    answers_agree,
    every_usual_scale_agrees,
    one_clamp_without_the_other_is_none,
    a_row_that_is_not_there_is_refused,
    what_is_there_is_not_replaced,
)


if __name__ == "__main__":
    stand_in.register(NAMESPACE)
    tell(CHECKS)
