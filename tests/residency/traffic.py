"""Traces of picks for policies: int64[T, L, k], tokens in order, MoE layers, logical experts.

A token's picks are k different experts. All are drawn from a seed's raw PCG64 bits, so that no
version of NumPy changes them. Each is named by the fault that it provokes.
"""

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float64]  # [L, E]: how likely each expert is, to a factor
Trace = NDArray[np.int64]  # [T, L, k]
AT_ONCE = 2**22


def drawn(seed: tuple[int, ...], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Draw evenly from [0, 1)."""
    raw = np.random.PCG64(seed).random_raw(int(np.prod(shape)))
    return (raw >> np.uint64(11)).astype(np.float64).reshape(shape) * 2.0**-53


def zipf(layers: int, experts: int, seed: int, *, exponent: float = 1.0) -> Weights:
    """Give each layer's experts 1, 1/2^s, 1/3^s, .. in an order of its own."""
    rank = drawn((seed, 0), (layers, experts)).argsort(axis=1).argsort(axis=1)
    weights: Weights = np.power(1.0 + rank, -exponent)
    return weights


def reversed_zipf(layers: int, experts: int, seed: int, *, exponent: float = 1.0) -> Weights:
    """The same the other way round: the least picked experts are the most picked now."""
    forward = zipf(layers, experts, seed, exponent=exponent)
    return np.take_along_axis(np.sort(forward)[:, ::-1], forward.argsort().argsort(), axis=1)


def sampled(weights: Weights, tokens: int, picks: int, seed: int) -> Trace:
    """Draw k different experts for each token and layer, the likelier the oftener and the earlier."""
    layers, experts = weights.shape
    ids = np.empty((tokens, layers, picks), np.int64)
    step = max(1, AT_ONCE // weights.size)
    for start in range(0, tokens, step):
        shape = (min(step, tokens - start), layers, experts)
        late = -np.log1p(-drawn((seed, 1, start), shape)) / weights
        ids[start : start + step] = late.argsort(axis=2, kind="stable")[:, :, :picks]
    return ids


def matched(tokens: int, layers: int, experts: int, picks: int, *, seed: int = 0) -> Trace:
    """Traffic of one kind."""
    return sampled(zipf(layers, experts, seed), tokens, picks, seed)


def uniform(tokens: int, layers: int, experts: int, picks: int, *, seed: int = 0) -> Trace:
    """Traffic to which every expert is alike; no map is better than another."""
    return sampled(np.ones((layers, experts)), tokens, picks, seed)


def switch(tokens: int, layers: int, experts: int, picks: int, *, at: int, seed: int = 0) -> Trace:
    """Traffic of one kind, and from token ``at`` on of another that knows nothing of it."""
    before = matched(at, layers, experts, picks, seed=seed)
    after = matched(tokens - at, layers, experts, picks, seed=seed + 1)
    return np.concatenate([before, after])


def reverse(tokens: int, layers: int, experts: int, picks: int, *, at: int, seed: int = 0) -> Trace:
    """The worst switch: from token ``at`` on the coldest experts are the hottest."""
    before = matched(at, layers, experts, picks, seed=seed)
    weights = reversed_zipf(layers, experts, seed)
    return np.concatenate([before, sampled(weights, tokens - at, picks, seed + 1)])


def domain_flip(
    tokens: int, layers: int, experts: int, picks: int, *, period: int, seed: int = 0
) -> Trace:
    """Two kinds of traffic that take turns of ``period`` tokens."""
    kinds = [matched(tokens, layers, experts, picks, seed=seed + kind) for kind in range(2)]
    second = np.arange(tokens) // period % 2 == 1
    return np.where(second[:, None, None], kinds[1], kinds[0])


def burst(
    tokens: int,
    layers: int,
    experts: int,
    picks: int,
    *,
    at: int,
    length: int = 200,
    hammered: int = 4,
    seed: int = 0,
) -> Trace:
    """Traffic of one kind, in which one request takes the least likely experts and is gone.

    Every token from ``at`` on, ``length`` of them, picks as many of the ``hammered`` experts as it
    has picks, in turns where they are more.
    """
    ids = matched(tokens, layers, experts, picks, seed=seed)
    coldest = zipf(layers, experts, seed).argsort(axis=1, kind="stable")[:, :hammered]
    mine = min(picks, hammered)
    turns = (np.arange(length)[:, None] * mine + np.arange(mine)) % hammered
    # A token of this request has nothing else that could be picked twice.
    rest = zipf(layers, experts, seed).argsort(axis=1, kind="stable")[:, ::-1][:, : picks - mine]
    for layer in range(layers):
        ids[at : at + length, layer, :mine] = coldest[layer][turns]
        ids[at : at + length, layer, mine:] = rest[layer]
    return ids


def tie(tokens: int, layers: int, experts: int, picks: int) -> Trace:
    """Experts in turn: exactly as many picks of each wherever T·k is a multiple of E."""
    picked = np.arange(tokens * picks).reshape(tokens, 1, picks) % experts
    return np.repeat(picked, layers, axis=1)


def thrash(
    tokens: int, layers: int, experts: int, picks: int, *, hot: int, window: int = 256
) -> Trace:
    """Two experts that take turns around the threshold, one window each; the rest stays as it is.

    Experts 0..H-2 are picked evenly, r times a window; of H-1 and H one gets 3/4 of r in a
    window, the other 1/4, and in the next window the other way round. None above H is picked.

    Raises:
        ValueError: All are hot or too few, or r is so small that 3/4 of it do not pass 1.25 times
            1/4 of it and 4 more.
    """
    sure = hot - 1
    rate = window * picks / hot
    high, low = round(0.75 * rate), round(0.25 * rate)
    if not picks <= sure < experts - 1 or high <= 1.25 * low + 4:
        raise ValueError(f"{hot} hot of {experts}: {high} picks do not pass the threshold of {low}")
    place = np.arange(tokens) % window
    ids = np.arange(tokens * picks).reshape(tokens, picks) % sure
    # The pair's picks are spread over the window, so that its halves are alike.
    turn = place * (high + low) // window
    paired = np.diff(turn, prepend=-1) != 0
    favoured = turn * low // (high + low) == (turn + 1) * low // (high + low)
    odd = np.arange(tokens) // window % 2 == 1
    ids[paired, -1] = np.where(favoured ^ odd, hot - 1, hot)[paired]
    return np.repeat(ids[:, None, :], layers, axis=1)
