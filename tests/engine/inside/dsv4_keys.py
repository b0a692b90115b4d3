"""Checks of DeepSeek-V4's compressed keys that torch stands in with: ``dsv4_keys.py RESULT``.

They run on any CPU. The reference is loops over tokens and channels in Python's own numbers.
"""

import math

import torch
from checks import tell
from dsv4_reference import BLOCK, NAMESPACE, OPS, angles, drawn, empty, near, turned
from shims import _deepseek_v4_in_torch as stand_in
from shims import _dsv4_cache as cache

HEADS = 2


def compressed(head: int, ratio: int, *, overlap: bool) -> None:
    """Hold a compressor against loops over its channels."""
    window, width = (1 + overlap) * ratio, (1 + overlap) * head
    positions = torch.arange(2 * ratio)
    slots = positions.clone()
    kv, score = drawn(len(positions), width, seed=1), drawn(len(positions), width, seed=2)
    ape, weight = drawn(ratio, width, seed=3), drawn(head, seed=4)
    state = torch.full((2 * ratio, BLOCK, 2 * width), torch.nan)
    OPS.save_partial_states_cpu(kv, score, ape, positions, state, slots)
    gathered = positions[:, None] - window + 1 + torch.arange(window)
    places = torch.where((positions + 1) % ratio == 0, positions // ratio, -1)
    token = 584 if head == 512 else 132
    kept, expected = empty(BLOCK * token), empty(BLOCK * token)
    op = "compress_norm_rope_store" + ("_cpu" if head == 512 else "_indexer_cpu")
    getattr(OPS, op)(
        *(state, gathered.clamp(min=-1), positions, places, weight, 1e-6, angles(64), kept),
        *(BLOCK, ratio),
    )
    for end in (ratio - 1, 2 * ratio - 1):
        row = []
        for channel in range(head):
            seen = [
                (at, channel + head * (w >= ratio))
                for w, at in enumerate(range(end - window + 1, end + 1))
                if at >= 0
            ]
            scores = [score[at, c].item() + ape[at % ratio, c].item() for at, c in seen]
            shares = [math.exp(each) for each in scores]
            values = [kv[at, c].item() for at, c in seen]
            row.append(sum(map(float.__mul__, shares, values)) / sum(shares))
        root = math.sqrt(sum(each * each for each in row) / head + 1e-6)
        row = turned(
            [w * each / root for w, each in zip(weight.tolist(), row, strict=True)],
            end // ratio * ratio,
        )
        slot, rows = torch.tensor([end // ratio]), torch.tensor([row])
        if head == 512:
            cache.store(expected, slot, BLOCK, rows)
            found, wanted = (cache.load(each, slot[None], BLOCK)[0, 0] for each in (kept, expected))
        else:
            at = int(slot)
            block = kept[at // BLOCK]
            scale = block[BLOCK * 128 + at % BLOCK * 4 :][:4].view(torch.float32)
            found = block[at % BLOCK * 128 :][:128].view(torch.float8_e4m3fn).float() * scale
            assert math.log2(float(scale)).is_integer()
            wanted = rows[0]
        assert near(found, wanted, 0.04), end


def windows_are_pooled_channel_by_channel() -> None:
    """Both caches; with windows that overlap, and without."""
    compressed(512, 4, overlap=True)
    compressed(512, 8, overlap=False)
    compressed(128, 4, overlap=True)


def the_indexer_scores_what_it_stored() -> None:
    """Queries with their scales in the weights; keys beyond the end are never chosen."""
    draw = torch.Generator().manual_seed(9)
    keys, kept = drawn(12, 128), empty(BLOCK * 132)
    values, scales = cache.indexed(keys)
    pages = torch.tensor([[2, 0, 4], [1, 3, 0]], dtype=torch.int32)
    for at in range(12):
        block = kept[int(pages[0, at // BLOCK])]
        block[at % BLOCK * 128 :][:128] = values[at].view(torch.uint8)
        block[BLOCK * 128 + at % BLOCK * 4 :][:4] = scales[at : at + 1].view(torch.uint8)
    q, weights = drawn(1, HEADS, 128, seed=2), torch.rand(1, HEADS, generator=draw)
    fp8, out = torch.empty_like(q, dtype=torch.float8_e4m3fn), torch.empty_like(weights)
    OPS.fused_indexer_q_rope_quant_cpu(
        torch.tensor([5]), q, angles(64), fp8, weights, 0.5, 0.25, out
    )
    lengths = torch.tensor([9], dtype=torch.int32)
    found = OPS.fp8_paged_mqa_logits_cpu(fp8, kept, out, lengths, pages[:1], BLOCK, 12)
    for at in range(9):
        expected = 0.0
        for head in range(HEADS):
            row = torch.tensor(turned(q[0, head].tolist(), 5))
            expected += max(float(row @ keys[at]), 0.0) * float(weights[0, head]) * 0.125
        assert math.isclose(float(found[0, at]), expected, rel_tol=0.1, abs_tol=0.05), at
    assert bool(found[0, 9:].isneginf().all())


def the_best_512_keys_are_chosen() -> None:
    """All of a short row in order, and of a long one those of the highest scores."""
    scores = drawn(2, 700)
    lengths, pages = torch.tensor([5, 650]), torch.arange(2 * 200, dtype=torch.int32).view(2, 200)
    raw, physical = (torch.zeros(2, 512, dtype=torch.int32) for _ in range(2))
    OPS.topk_transform_512_cpu(scores, lengths, pages, physical, BLOCK, raw)
    assert raw[0].tolist() == [*range(5), *[-1] * 507]
    best = sorted(range(650), key=lambda at: -scores[1, at].item())[:512]
    assert {*raw[1].tolist()} == {*best}
    for row in range(2):
        for at, where in zip(raw[row].tolist(), physical[row].tolist(), strict=True):
            assert where == (-1 if at < 0 else int(pages[row, at // BLOCK]) * BLOCK + at % BLOCK)


CHECKS = (
    windows_are_pooled_channel_by_channel,
    the_indexer_scores_what_it_stored,
    the_best_512_keys_are_chosen,
)


if __name__ == "__main__":
    stand_in.register(NAMESPACE)
    tell(CHECKS)
