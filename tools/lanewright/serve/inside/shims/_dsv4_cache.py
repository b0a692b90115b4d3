"""How DeepSeek-V4's port for CPUs lays its caches, and the numbers in them.

A block of the attention's cache has its tokens first, each 448 bytes of float8_e4m3fn and 64
bfloat16 behind their rotation; then eight bytes a token, an e8m0 scale for each 64 of the former
and one of padding. A block of the indexer's has 128 float8_e4m3fn a token, then a float32 each.

Float8 here is what the format says. vLLM's kernels for the attention's cache, seen on AVX512 in
0.32.0, know none of its numbers below the least normal one: they write 0 for those, and read 0 as
2**-7 of the scale.
"""

import torch

FP8 = torch.float8_e4m3fn
FP8_MOST = 448.0
LEAST = 1e-4
HEAD, ROTATED, TILE = 512, 64, 64
PLAIN = HEAD - ROTATED
TOKEN, SCALES = PLAIN + 2 * ROTATED, PLAIN // TILE + 1
INDEXER, INDEXER_SCALE = 128, 4


def rotated(
    x: torch.Tensor, positions: torch.Tensor, cos_sin: torch.Tensor, *, back: bool = False
) -> torch.Tensor:
    """Rotate the pairs at the end of float32 [N, ..., D]; each N has a position.

    Args:
        x: Left as it is.
        positions: int64 [N].
        cos_sin: float32 [positions, R], cosines and then sines of R / 2 pairs.
        back: Turn the other way.
    """
    cos, sin = cos_sin[positions].chunk(2, dim=-1)
    for _ in range(x.dim() - 2):
        cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    sin = -sin if back else sin
    plain, turned = x.split([x.shape[-1] - cos_sin.shape[-1], cos_sin.shape[-1]], dim=-1)
    even, odd = turned[..., 0::2], turned[..., 1::2]
    pairs = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return torch.cat([plain, pairs.flatten(-2)], dim=-1)


def quantised(x: torch.Tensor, most: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Quantise float32 [..., D] under one power of two each, which holds ``most`` [...].

    Returns:
        float8_e4m3fn [..., D], and the powers' exponents as float32 [...].
    """
    exponents = torch.ceil(torch.log2(most))
    scaled = x * torch.exp2(-exponents).unsqueeze(-1)
    return scaled.clamp(-FP8_MOST, FP8_MOST).to(FP8), exponents


def indexed(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Quantise float32 [..., D] as the indexer has it: float8_e4m3fn, and float32 scales [...]."""
    values, exponents = quantised(x, x.abs().amax(-1).clamp(min=LEAST) / FP8_MOST)
    return values, torch.exp2(exponents)


def place(slots: torch.Tensor, block: int, width: int, start: int = 0) -> tuple[torch.Tensor, ...]:
    """Index the bytes of slots in [blocks, bytes], ``width`` each, behind ``start`` of a block."""
    within = start + (slots % block).unsqueeze(-1) * width
    return (slots // block).unsqueeze(-1), within + torch.arange(width)


def store(cache: torch.Tensor, slots: torch.Tensor, block: int, rows: torch.Tensor) -> None:
    """Write rotated float32 [N, 512] into slots of the attention's cache; all are its own."""
    tiles = rows[:, :PLAIN].bfloat16().float().unflatten(-1, (-1, TILE))
    values, exponents = quantised(tiles, (tiles.abs().amax(-1) / FP8_MOST).clamp(min=LEAST))
    token = torch.cat(
        [
            values.flatten(1).view(torch.uint8),
            rows[:, PLAIN:].bfloat16().contiguous().view(torch.uint8),
        ],
        dim=1,
    )
    scales = torch.nn.functional.pad((exponents + 127).to(torch.uint8), (0, 1))
    cache[place(slots, block, TOKEN)] = token
    cache[place(slots, block, SCALES, block * TOKEN)] = scales


def load(cache: torch.Tensor, slots: torch.Tensor, block: int) -> torch.Tensor:
    """Read slots [N, K] of the attention's cache: float32 [N, K, 512], rounded to bfloat16."""
    token = cache[place(slots, block, TOKEN)]
    scales = cache[place(slots, block, SCALES, block * TOKEN)][..., :-1]
    tiles = token[..., :PLAIN].view(FP8).float().unflatten(-1, (-1, TILE))
    plain = tiles * torch.exp2(scales.float() - 127).unsqueeze(-1)
    turned = token[..., PLAIN:].contiguous().view(torch.bfloat16).float()
    return torch.cat([plain.flatten(-2).bfloat16().float(), turned], dim=-1)
