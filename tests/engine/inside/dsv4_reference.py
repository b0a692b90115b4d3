"""Numbers for checks of DeepSeek-V4's kernels, and what both kinds of them compare by."""

import cmath

import torch

NAMESPACE = "stand_in_for_tests"
OPS = getattr(torch.ops, NAMESPACE)
BLOCK, BLOCKS = 4, 5


def drawn(*shape: int, seed: int = 1) -> torch.Tensor:
    """Draw float32."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def angles(width: int) -> torch.Tensor:
    """Cosines and sines of 64 positions."""
    each = torch.outer(torch.arange(64.0), torch.exp2(-torch.arange(width // 2.0) / 4))
    return torch.cat([each.cos(), each.sin()], dim=1)


def near(found: torch.Tensor, expected: torch.Tensor, part: float = 1e-5) -> bool:
    """Whether no number is further off than a part of the largest."""
    most = expected.double().abs().max()
    return bool((found.double() - expected.double()).abs().max() <= part * most)


def turned(row: list[float], position: int, *, sign: int = 1) -> list[float]:
    """Rotate the last 64 numbers as complex ones."""
    table = angles(64)[position].tolist()
    for pair in range(32):
        at = len(row) - 64 + 2 * pair
        angle = cmath.phase(complex(table[pair], table[32 + pair]))
        number = complex(row[at], row[at + 1]) * cmath.exp(1j * sign * angle)
        row[at], row[at + 1] = number.real, number.imag
    return row


def empty(width: int) -> torch.Tensor:
    """A cache whose blocks lie apart in memory, as those of many layers do; all NaN."""
    return torch.full((BLOCKS, 2 * width), 0xFF, dtype=torch.uint8)[:, :width]
