"""What is said beside the files, and what every form comes to."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanewright.residency.trace_file.form import MOST_LAYERS, MOST_PICKS, MOST_PICKS_PER_TOKEN
from lanewright.residency.trace_file.recorded import (
    DECODE,
    MOST_EXPERTS,
    PREFILL,
    Recorded,
    require_recorded,
)


@dataclass(frozen=True)
class Said:
    """What a form may leave open, as the user says it.

    Attributes:
        model: Hash or name of what was served; empty where it was not said.
        experts: Of every layer; 0 for the highest id and one.
        prompts: Tokens of each request's prompt, which is a forward by itself; each token behind
            it is one of its own. One number stands for all; none for requests that are all
            prompt.
        length: Tokens of each request, where a form has no requests; 0 for one of all tokens.
    """

    model: str = ""
    experts: int = 0
    prompts: tuple[int, ...] = ()
    length: int = 0


def whole(
    each: Sequence[NDArray[np.integer]],
    said: Said,
    weights: Sequence[NDArray[np.floating]] | None = None,
) -> Recorded:
    """Make a trace of requests that were served one after the other.

    Args:
        each: Of each request int[t, L, k].
        said: See there.
        weights: Of each request float[t, L, k]; None where there are none.

    Raises:
        ValueError: They do not go together, or are no picks.
    """
    if not each or not sum(len(ids) for ids in each):
        raise ValueError("it has no token")
    shapes = {ids.shape[1:] for ids in each}
    if len(shapes) > 1 or any(ids.ndim != 3 for ids in each):  # noqa: PLR2004 - t, L, k
        raise ValueError(f"its requests have different shapes: {sorted(shapes)}")
    ((layers, picks),) = shapes
    if not 1 <= layers <= MOST_LAYERS or not 1 <= picks <= MOST_PICKS_PER_TOKEN:
        raise ValueError(f"{layers} layers of {picks} picks a token")
    ids = np.concatenate(each)
    if ids.size > MOST_PICKS:
        raise ValueError(f"{ids.size} picks, and a trace has {MOST_PICKS} at most")
    if ids.min() < 0 or ids.max() >= MOST_EXPERTS:
        raise ValueError(f"ids from {ids.min()} to {ids.max()}")
    lengths = [len(part) for part in each]
    prompts = _prompts(lengths, said.prompts)
    found = Recorded(
        model=said.model,
        layers=tuple(f"layers.{number}" for number in range(layers)),
        experts=said.experts or int(ids.max()) + 1,
        ids=ids.astype(np.uint16),
        forward=_forwards(lengths, prompts),
        request=np.repeat(np.arange(len(each)), lengths),
        position=np.concatenate([np.arange(length) for length in lengths]),
        phase=np.concatenate(
            [
                np.where(np.arange(length) < prompt, PREFILL, DECODE)
                for length, prompt in zip(lengths, prompts, strict=True)
            ]
        ).astype(np.uint8),
        accepted=np.ones(len(ids), np.bool_),
        weights=None if weights is None else np.concatenate(weights).astype(np.float32),
    )
    require_recorded(found)
    return found


def _prompts(lengths: list[int], said: tuple[int, ...]) -> list[int]:
    if not said:
        return lengths
    each = said * len(lengths) if len(said) == 1 else said
    if len(each) != len(lengths):
        raise ValueError(f"{len(lengths)} requests, and {len(each)} lengths of prompts are said")
    for number, (length, prompt) in enumerate(zip(lengths, each, strict=True)):
        if prompt > length:
            raise ValueError(f"request {number} has {length} tokens, and a prompt of {prompt}")
    return list(each)


def _forwards(lengths: list[int], prompts: list[int]) -> NDArray[np.int64]:
    """Number the forwards: a prompt is one, each token behind it another."""
    parts, start = [], 0
    for length, prompt in zip(lengths, prompts, strict=True):
        within = np.maximum(0, np.arange(length) - prompt + (prompt > 0))
        parts.append(start + within)
        start += int(within[-1]) + 1 if length else 0
    return np.concatenate(parts).astype(np.int64)
