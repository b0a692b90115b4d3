"""DeepSeek-V4's streams and routing, in torch and in vLLM's kernels."""

import itertools

import torch
from dsv4_reference import OPS, drawn, near
from own_ops import own, round_alike

# float32, summed in an order of its own, and what is an exponential's or a logarithm's last bits.
SUM = 1e-5
# vLLM's arguments that are not looked at by their names.
TRUE, FALSE = True, False


def streams_agree() -> None:
    """Before a block, behind it, and behind the last; widths that no vector fits, too.

    The two small numbers are far enough apart to be taken for each other by nobody.
    """
    own_ops = own("hc_pre_fused_cpu", "hc_post_fused_cpu", "hc_head_fused_cpu")
    for width in (64, 100, 256, 1792):
        for tokens in (1, 5, 33):
            x, fn = drawn(tokens, 4, width).bfloat16(), drawn(24, 4 * width, seed=2) / 8
            scale, base = drawn(3, seed=3), drawn(24, seed=4)
            for steps in (1, 4, 20):
                ours, theirs = (
                    ops.hc_pre_fused_cpu(x, fn, scale, base, 4, steps, 1e-2, 1e-3)
                    for ops in (OPS, own_ops)
                )
                round_alike(ours[0], theirs[0])
                assert near(ours[1], theirs[1], SUM), (width, tokens, steps)
                assert near(ours[2], theirs[2], SUM), (width, tokens, steps)
            y, post, comb = ours
            round_alike(*(ops.hc_post_fused_cpu(y, x, post, comb) for ops in (OPS, own_ops)))
            head = (x, fn[:4].contiguous(), scale[:1], base[:4].contiguous(), 1e-2, 1e-5)
            round_alike(*(ops.hc_head_fused_cpu(*head) for ops in (OPS, own_ops)))


def products_agree() -> None:
    """Of weights that vLLM packed, and of the same as they were."""
    own_ops = own("bmm_cpu", "convert_weight_packed")
    for groups, rows, inner, outer in ((2, 3, 64, 32), (4, 17, 512, 64), (1, 1, 128, 128)):
        x = drawn(groups, rows, inner).bfloat16()
        weights = drawn(groups, outer, inner, seed=2).bfloat16()
        ours, theirs = (torch.empty(groups, rows, outer).bfloat16() for _ in range(2))
        OPS.bmm_cpu(ours, x, weights, TRUE, None)
        own_ops.bmm_cpu(theirs, x, own_ops.convert_weight_packed(weights), TRUE, None)
        round_alike(ours, theirs)


def experts_agree() -> None:
    """The same ones in the same order; weights renormalised and scaled, one of the two, or not."""
    own_ops = own("biased_topk_cpu")
    kinds = itertools.product(
        (64, 256, 384), ("sqrtsoftplus", "sigmoid"), (TRUE, FALSE), (None, 1.5), (TRUE, FALSE)
    )
    for count, scores, renormalised, factor, scaled in kinds:
        logits, bias = (drawn(17, count) * 3).bfloat16(), drawn(count, seed=2)
        ours, theirs = (
            ops.biased_topk_cpu(logits, logits, bias, 6, renormalised, scores, 0, factor, scaled)
            for ops in (OPS, own_ops)
        )
        assert torch.equal(ours[1], theirs[1]), (count, scores)
        assert near(ours[0], theirs[0], SUM), (count, scores, renormalised, factor, scaled)


def equal_experts_weigh_the_same() -> None:
    """Whichever of them is chosen, which both may do as they like."""
    own_ops = own("biased_topk_cpu")
    for count in (64, 256, 384):
        logits = (drawn(17, count) * 2).round().bfloat16()
        ours, theirs = (
            ops.biased_topk_cpu(
                logits, logits, torch.zeros(count), 6, FALSE, "sqrtsoftplus", 0, 1.5, TRUE
            )
            for ops in (OPS, own_ops)
        )
        assert near(ours[0], theirs[0], SUM), count
        for weights, ids in (ours, theirs):
            assert all(len({*row}) == 6 for row in ids.tolist())
            expected = torch.nn.functional.softplus(logits.double()).sqrt().gather(1, ids.long())
            assert near(weights, expected, SUM), count


def experts_of_the_tokens_agree() -> None:
    """Their weights, by every kind of score."""
    own_ops = own("hash_topk_cpu")
    draw = torch.Generator().manual_seed(3)
    for count in (64, 256, 384):
        logits = (drawn(17, count) * 3).bfloat16()
        table = torch.stack([torch.randperm(count, generator=draw)[:6] for _ in range(17)]).int()
        for scores in ("sqrtsoftplus", "sigmoid", "softmax"):
            ours, theirs = (
                ops.hash_topk_cpu(logits, table, 6, scores, 0, count, 1.5) for ops in (OPS, own_ops)
            )
            assert torch.equal(ours[1], theirs[1])
            assert near(ours[0], theirs[0], SUM), (count, scores)


def what_chooses_by_softmax_is_refused() -> None:
    """By both."""
    own_ops = own("biased_topk_cpu")
    logits = drawn(3, 64).bfloat16()
    for ops in (OPS, own_ops):
        try:
            ops.biased_topk_cpu(logits, logits, drawn(64), 6, TRUE, "softmax", 0, 1.5, TRUE)
        except (NotImplementedError, RuntimeError) as error:
            assert "softmax" in str(error)  # noqa: PT017 - no pytest in a lane's Python
        else:
            raise AssertionError(ops)


CHECKS = (
    streams_agree,
    products_agree,
    experts_agree,
    equal_experts_weigh_the_same,
    experts_of_the_tokens_agree,
    what_chooses_by_softmax_is_refused,
)
