"""Random tensors that are the same on every machine: PCG64's raw integers and exact steps only."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bits: TypeAlias = NDArray[np.generic]


@dataclass(frozen=True)
class Bell:
    """Bell-shaped floats around zero; ones where the deviation is zero.

    Attributes:
        shape: Of the tensor.
        deviation: Standard deviation.
        dtype: As safetensors names it.
    """

    shape: tuple[int, ...]
    deviation: float
    dtype: Literal["BF16", "F32"] = "BF16"

    def draw(self, source: np.random.PCG64) -> Bits:
        """Draw the bits."""
        bits = _bell(source, self.shape, self.deviation).view("<u4").reshape(self.shape)
        # Truncated, not rounded: as good for random weights.
        return (bits >> 16).astype("<u2") if self.dtype == "BF16" else bits


@dataclass(frozen=True)
class Nibbles:
    """Pairs of random e2m1 in bytes: every value of MXFP4 as often as any other.

    Attributes:
        shape: Of the tensor in bytes, half as wide as the weights are.
    """

    shape: tuple[int, ...]
    dtype: str = "U8"

    def draw(self, source: np.random.PCG64) -> Bits:
        """Draw the bytes."""
        return _bytes(source, self.shape)


@dataclass(frozen=True)
class Exponents:
    """Random e8m0 scales.

    Attributes:
        shape: Of the tensor, one byte for 32 weights.
        low: Smallest byte; byte b stands for 2 ** (b - 127).
        high: Largest byte.
    """

    shape: tuple[int, ...]
    low: int
    high: int
    dtype: str = "U8"

    def draw(self, source: np.random.PCG64) -> Bits:
        """Draw the bytes."""
        spread = _bytes(source, self.shape).astype(np.uint16) * (self.high - self.low + 1) >> 8
        return (spread + self.low).astype(np.uint8)


@dataclass(frozen=True)
class Routes:
    """Different experts for each token, chosen ahead.

    Attributes:
        shape: Tokens and picks.
        experts: How many there are to pick from.
    """

    shape: tuple[int, int]
    experts: int
    dtype: str = "I32"

    def draw(self, source: np.random.PCG64) -> Bits:
        """Draw the ids: from a random one on, in random equal steps."""
        tokens, picks = self.shape
        first, step = source.random_raw(2 * tokens).reshape(2, tokens, 1) >> 32
        steps = 1 + step % (self.experts // picks)
        ids: Bits = (first + steps * np.arange(picks, dtype=np.uint64)) % self.experts
        return ids.astype("<i4")


Draw = Bell | Nibbles | Exponents | Routes


def drawn(seed: int, draws: Mapping[str, Draw]) -> dict[str, tuple[str, Bits]]:
    """Draw every tensor in order; its dtype as safetensors names it, and its bits."""
    source = np.random.PCG64(seed)
    return {name: (draw.dtype, draw.draw(source)) for name, draw in draws.items()}


def _bell(source: np.random.PCG64, shape: tuple[int, ...], deviation: float) -> NDArray[np.float32]:
    count = int(np.prod(shape))
    if deviation == 0:
        return np.ones(count, np.float32)
    # The sum of four uniform 16-bit numbers is bell-shaped enough, and exact.
    quarters = source.random_raw(count).view("<u2").reshape(count, 4)
    centred = quarters.sum(axis=1, dtype=np.int64) - 2 * 65535
    values: NDArray[np.float64] = centred * (deviation / (65536 * (4 / 12) ** 0.5))
    return values.astype(np.float32)


def _bytes(source: np.random.PCG64, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    count = int(np.prod(shape))
    return source.random_raw(-(-count // 8)).view("<u1")[:count].reshape(shape)
