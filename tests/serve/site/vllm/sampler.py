"""Turns a state into a token and the logprobs of the two likeliest."""

import math
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

VOCABULARY = 512
EOS = 0


@dataclass
class Logprob:
    logprob: float


def float32(value: float) -> float:
    (narrow,) = struct.unpack("<f", struct.pack("<f", value))
    return float(narrow)


def sample(
    state: int, request: int, index: int, lies: Mapping[str, Any], *, on: bool
) -> tuple[int, dict[int, Logprob]]:
    """Pick greedily; ``lies`` may ask for another token or logprob at one place."""
    token = state % lies.get("vocabulary", VOCABULARY)
    second = token + 1
    likeliest = float32(-(state // VOCABULARY % 1000 + 1) / 1000)
    gap = (state // VOCABULARY // 1000 % 1000 + 1) / 1000
    if request <= lies.get("unsteady", 0) and index == 0:
        likeliest = float(-os.getpid())
    flip = lies.get("flip", {})
    if flip.get("place") == [request, index] and (on or not flip.get("only_on")):
        if flip["what"] == "token":
            token, second = second, token
        else:
            likeliest = float32(likeliest * (1 + 2**-20))
    if lies.get("nan") == [request, index]:
        likeliest = math.nan
    return token, {token: Logprob(likeliest), second: Logprob(float32(likeliest - gap))}
