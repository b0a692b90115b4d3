"""Checks of DeepSeek-V4's attention that torch stands in with: ``dsv4_attention.py RESULT``.

They run on any CPU. The reference is loops over tokens and channels in Python's own numbers.
"""

import math

import torch
from checks import bits, tell
from dsv4_reference import BLOCK, NAMESPACE, OPS, angles, drawn, empty, near, turned
from shims import _deepseek_v4_in_torch as stand_in
from shims import _dsv4_cache as cache

HEADS = 2


def rotations_are_complex_products() -> None:
    """There, and back to where it was."""
    x, positions = drawn(3, HEADS, 512), torch.tensor([0, 7, 63])
    found = cache.rotated(x, positions, angles(64))
    for token, position in enumerate(positions.tolist()):
        for head in range(HEADS):
            expected = torch.tensor(turned(x[token, head].tolist(), position))
            assert near(found[token, head], expected), (token, head)
    back = OPS.inverse_gptj_rope_o_proj_cpu(found.bfloat16(), positions, angles(64), 64)
    assert near(back, x, 0.01)


def tokens_lie_where_the_port_reads_them() -> None:
    """Byte for byte, in blocks that are further apart than they are long."""
    kept, rows = empty(BLOCK * 584), drawn(2, 512) * torch.tensor([[1.0], [1e-6]])
    slots = torch.tensor([6, 17])
    cache.store(kept, slots, BLOCK, rows)
    for row, slot in zip(rows, slots.tolist(), strict=True):
        block, within = kept[slot // BLOCK], slot % BLOCK
        token = block[within * 576 :][:576]
        scales = block[BLOCK * 576 + within * 8 :][:8].tolist()
        assert scales.pop() == 0
        for tile, scale in enumerate(scales):
            numbers = row[tile * 64 :][:64].bfloat16().float()
            most = max(numbers.abs().max().item() / 448, 1e-4)
            assert scale == 127 + math.ceil(math.log2(most))
            expected = (numbers * 2.0 ** (127 - scale)).to(torch.float8_e4m3fn)
            assert bits(token[tile * 64 :][:64]) == bits(expected)
        assert bits(token[448:]) == bits(row[448:].bfloat16())
    untouched = kept.clone()
    for slot in slots.tolist():
        untouched[slot // BLOCK, slot % BLOCK * 576 :][:576] = 0xFF
        untouched[slot // BLOCK, BLOCK * 576 + slot % BLOCK * 8 :][:8] = 0xFF
    assert bool((untouched == 0xFF).all())
    assert near(cache.load(kept, slots[None], BLOCK)[0, 0], rows[0], 0.04)


def queries_are_normalised_and_keys_stored() -> None:
    """Padded heads are zero; a token without a slot is not stored."""
    q, kv = drawn(3, HEADS, 512).bfloat16(), drawn(3, 512, seed=2).bfloat16()
    positions, slots = torch.tensor([3, 4, 9]), torch.tensor([5, -1, 8])
    kept = empty(BLOCK * 584)
    found = OPS.fused_qnorm_rope_kv_insert_cpu(
        q, kv, positions, kept, slots, angles(64), HEADS + 1, 1e-6, BLOCK
    )
    assert not found[:, HEADS].any()
    for token, position in enumerate(positions.tolist()):
        numbers = q[token, 0].tolist()
        root = math.sqrt(sum(each * each for each in numbers) / 512 + 1e-6)
        expected = torch.tensor(turned([each / root for each in numbers], position))
        assert near(found[token, 0], expected, 0.01), token
    expected = empty(BLOCK * 584)
    rows = cache.rotated(kv.float(), positions, angles(64))
    cache.store(expected, slots[::2], BLOCK, rows[::2])
    assert bits(kept) == bits(expected)


def attended(tokens: torch.Tensor, *, more: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention of some of five tokens: what the op says, and what loops do."""
    caches = [empty(BLOCK * 584), empty(BLOCK * 584)]
    for seed, each in enumerate(caches):
        # The first slot is NaN: what is left out may be read, and is not to be seen.
        cache.store(each, torch.arange(1, 18), BLOCK, drawn(17, 512, seed=seed))
    draw = torch.Generator().manual_seed(5)
    slots = [torch.randint(1, 18, (5, width), generator=draw) for width in (6, 7 if more else 0)]
    for each in slots:
        each[:, -2:] = -1
    q, sink = drawn(5, HEADS, 512, seed=6).bfloat16(), drawn(HEADS, seed=7)
    out = torch.empty(len(tokens), HEADS, 512, dtype=torch.bfloat16)
    window, compressed = (each[tokens].contiguous() for each in slots)
    OPS.flash_mla_with_kvcache_cpu(
        *(out, q[tokens], caches[0], window, BLOCK, caches[1], compressed, BLOCK, sink, 0.05)
    )
    rows = []
    for token in tokens.tolist():
        keys = torch.cat(
            [
                cache.load(c, s[token][s[token] >= 0][None], BLOCK)[0]
                for c, s in zip(caches, slots, strict=True)
            ]
        ).double()
        for head in range(HEADS):
            shares = (keys @ q[token, head].double() * 0.05).exp()
            rows.append(shares @ keys / (shares.sum() + sink[head].double().exp()))
    return out, torch.stack(rows).view(len(tokens), HEADS, 512)


def attention_is_a_softmax_with_a_sink() -> None:
    """Of one cache and of two; slots of -1 are not there, and no other token is."""
    for more in (False, True):
        together, expected = attended(torch.arange(5), more=more)
        assert near(together, expected, 0.01)
        for token in range(5):
            alone, _ = attended(torch.tensor([token]), more=more)
            assert bits(alone) == bits(together[token : token + 1]), (more, token)


CHECKS = (
    rotations_are_complex_products,
    tokens_lie_where_the_port_reads_them,
    queries_are_normalised_and_keys_stored,
    attention_is_a_softmax_with_a_sink,
)


if __name__ == "__main__":
    stand_in.register(NAMESPACE)
    tell(CHECKS)
