"""DeepSeek-V4's compressed keys and their choice, in torch and in vLLM's kernels."""

import torch
from dsv4_beside_attention import kept_alike
from dsv4_reference import BLOCK, OPS, angles, drawn, empty, near
from own_ops import own, quantise_alike
from shims import _dsv4_cache as cache

SUM = 1e-6  # float32's, in an order of its own


def compressors_agree() -> None:
    """Of both caches; with windows that overlap and without, and with a token that has no slot."""
    names = ("compress_norm_rope_store_cpu", "compress_norm_rope_store_indexer_cpu")
    own_ops = own("save_partial_states_cpu", *names)
    for head, name, token in ((512, names[0], 584), (128, names[1], 132)):
        for ratio, overlap in ((4, True), (8, False), (128, False), (128, True)):
            window, width = (1 + overlap) * ratio, (1 + overlap) * head
            positions = torch.arange(3 * ratio)
            slots = positions.clone()
            slots[1] = -1
            kv, score = drawn(len(positions), width), drawn(len(positions), width, seed=2)
            ape, weight = drawn(ratio, width, seed=3), drawn(head, seed=4)
            states = []
            for ops in (OPS, own_ops):
                state = torch.zeros(len(positions) // BLOCK, BLOCK, 2 * width)
                ops.save_partial_states_cpu(kv, score, ape, positions, state, slots)
                states.append(state)
            assert torch.equal(*states)
            gathered = positions[:, None] - window + 1 + torch.arange(window)
            gathered[gathered == 1] = -1
            places = torch.where((positions + 1) % ratio == 0, positions // ratio, -1)
            found = []
            for ops in (OPS, own_ops):
                kept = empty(BLOCK * token)
                getattr(ops, name)(
                    *(states[0], gathered.clamp(min=-1), positions, places, weight, 1e-6),
                    *(angles(64).repeat(6, 1), kept, BLOCK, ratio),
                )
                found.append(kept)
            if head == 512:
                kept_alike(*found)
            else:
                quantise_alike(*(each[:, : BLOCK * 128] for each in found))
                assert torch.equal(*(each[:, BLOCK * 128 :] for each in found))


def the_indexers_queries_agree() -> None:
    """Large ones and small ones, byte for byte; weights with their scales."""
    own_ops = own("fused_indexer_q_rope_quant_cpu")
    for heads in (1, 2, 64):
        q = drawn(17, heads, 128) * torch.logspace(-7, 2, 17)[:, None, None]
        weights, found = torch.rand(17, heads, generator=torch.Generator().manual_seed(1)), []
        for ops in (OPS, own_ops):
            values, out = torch.empty_like(q, dtype=torch.float8_e4m3fn), torch.empty(17, heads)
            ops.fused_indexer_q_rope_quant_cpu(
                torch.arange(17), q, angles(64), values, weights, 0.5, 0.25, out
            )
            found.append((values.view(torch.uint8), out))
        quantise_alike(found[0][0], found[1][0])
        assert near(found[0][1], found[1][1], SUM), heads


def the_indexers_scores_agree() -> None:
    """As far as a row goes; what vLLM has behind it is not written by anybody."""
    own_ops = own("fp8_paged_mqa_logits_cpu")
    values, scales = cache.indexed(drawn(20, 128))
    kept = empty(BLOCK * 132)
    kept[:, : BLOCK * 128] = values.view(torch.uint8).view(5, -1)
    kept[:, BLOCK * 128 :] = scales.view(torch.uint8).view(5, -1)
    draw = torch.Generator().manual_seed(3)
    for heads in (1, 2, 64):
        for most in (12, 200, 1300):
            pages = torch.randint(0, 5, (5, -(-most // BLOCK)), generator=draw).int()
            q, weights = drawn(5, heads, 128, seed=7), drawn(5, heads, seed=8)
            lengths = torch.tensor([most, 1, 0, most // 2, 3], dtype=torch.int32)
            ours, theirs = (
                ops.fp8_paged_mqa_logits_cpu(
                    q.to(torch.float8_e4m3fn), kept, weights, lengths, pages, BLOCK, most
                )
                for ops in (OPS, own_ops)
            )
            there = torch.arange(most) < lengths.unsqueeze(1)
            assert ours.shape == theirs.shape
            assert near(ours[there], theirs[there], SUM), (heads, most)


def the_same_keys_are_chosen() -> None:
    """All of short rows in order; of long ones keys of the same scores, whichever of equals."""
    own_ops = own("topk_transform_512_cpu")
    for width in (5, 512, 513, 700, 5000):
        pages = torch.arange(4 * width, dtype=torch.int32).flip(0).view(4, width)
        # Behind a ReLU many scores are 0.
        for scores in (drawn(4, width), drawn(4, width).clamp(min=1.2)):
            lengths = torch.tensor([width, 5, 0, max(1, width - 50)], dtype=torch.int32)
            found = []
            for ops in (OPS, own_ops):
                raw, physical = (torch.zeros(4, 512, dtype=torch.int32) for _ in range(2))
                ops.topk_transform_512_cpu(scores, lengths, pages, physical, BLOCK, raw)
                at = raw.clamp(min=0).long()
                paged = pages.gather(1, at // BLOCK) * BLOCK + raw % BLOCK
                assert torch.equal(physical, torch.where(raw >= 0, paged, -1))
                found.append((raw, scores.gather(1, at)))
            for row, length in enumerate(lengths.tolist()):
                ours, theirs = (each[0][row] for each in found)
                if length <= 512:
                    assert torch.equal(ours, theirs), (width, row)
                else:
                    assert len({*ours.tolist()}) == len({*theirs.tolist()}) == 512
                    assert torch.equal(*(each[1][row].sort().values for each in found))


CHECKS = (
    compressors_agree,
    the_indexers_queries_agree,
    the_indexers_scores_agree,
    the_same_keys_are_chosen,
)
