"""Compares the answers of two engines, token by token and bit by bit."""

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

Role = Literal["control", "negative control", "arm"]


@dataclass(frozen=True)
class Answer:
    """One greedy answer.

    Attributes:
        prompt: Text that was asked.
        ids: Token ids, T of them.
        bits: Each token's logprob as the bits of its float32.
        gaps: Each place's distance from the likeliest logprob to the second, in nats.
        likeliest: Each place's two likeliest tokens with their logprobs' bits, in that order.
        text: The answer, decoded.
    """

    prompt: str
    ids: tuple[int, ...]
    bits: tuple[int, ...]
    gaps: tuple[float, ...]
    likeliest: tuple[tuple[int, ...], ...] = ()
    text: str = ""

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> Self:
        """Read what ``inside/arms.py`` wrote of one."""
        pairs = found["likeliest"]
        return cls(
            prompt=found["prompt"],
            ids=tuple(found["ids"]),
            bits=tuple(found["bits"]),
            gaps=tuple(_float(first[1]) - _float(second[1]) for first, second in pairs),
            likeliest=tuple((*first, *second) for first, second in pairs),
            text=found["text"],
        )

    def places(self) -> list[tuple[int, ...]]:
        """All that is known of each token."""
        more = self.likeliest or ((),) * len(self.ids)
        return [
            (token, bits, *rest)
            for token, bits, rest in zip(self.ids, self.bits, more, strict=True)
        ]


@dataclass(frozen=True)
class Divergence:
    """Where an answer first leaves the baseline's.

    Attributes:
        number: The prompt's, from 1.
        prompt: Its text.
        index: Place in the answer, from 0.
        what: Whether another token was picked there, the same with another logprob (its own or one
            of the two likeliest), or all is the same and only decoded to another text.
        baseline: The baseline's token; None past its end.
        other: The other's token; None past its end.
        gap: The baseline's top-2 gap there, in nats; None past its end, or where it is no number.
    """

    number: int
    prompt: str
    index: int
    what: Literal["token", "logprob", "text"]
    baseline: int | None
    other: int | None
    gap: float | None


@dataclass(frozen=True)
class Row:
    """One engine against the baseline.

    Attributes:
        arm: Its name.
        role: A control must be equal, a negative control must not.
        equal: How many answers are the baseline's, ids and bits.
        prompts: How many there are.
        first: Where the first unequal one diverges.
    """

    arm: str
    role: Role
    equal: int
    prompts: int
    first: Divergence | None


def _float(bits: int) -> float:
    """Read the bits of a float32."""
    (number,) = struct.unpack("<f", struct.pack("<I", bits))
    return float(number)


def compare(arm: str, role: Role, baseline: Sequence[Answer], others: Sequence[Answer]) -> Row:
    """Hold an engine's answers against the baseline's.

    Raises:
        ValueError: They are not answers to the same prompts.
    """
    if [each.prompt for each in baseline] != [each.prompt for each in others]:
        raise ValueError(f"{arm} was not asked what the baseline was")
    found = [
        diverge(number, ours, theirs)
        for number, (ours, theirs) in enumerate(zip(baseline, others, strict=True), 1)
    ]
    unequal = [each for each in found if each]
    first = unequal[0] if unequal else None
    return Row(arm, role, len(found) - len(unequal), len(found), first)


def diverge(number: int, baseline: Answer, other: Answer) -> Divergence | None:
    """Where two answers to one prompt part; None where they are one."""
    ours, theirs = baseline.places(), other.places()
    if ours == theirs and baseline.text == other.text:
        return None
    pairs = zip(ours, theirs, strict=False)
    index = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(ours), len(theirs)))
    gap = baseline.gaps[index] if index < len(ours) else math.nan
    token = baseline.ids[index] if index < len(ours) else None
    instead = other.ids[index] if index < len(theirs) else None
    return Divergence(
        number=number,
        prompt=baseline.prompt,
        index=index,
        what="text" if ours == theirs else "logprob" if token == instead else "token",
        baseline=token,
        other=instead,
        gap=round(gap, 6) if math.isfinite(gap) else None,
    )
