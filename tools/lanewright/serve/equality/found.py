"""What an arm of an earlier run found, read with no trust in its file."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from lanewright.serve.engines import Arm

Bits = Annotated[int, msgspec.Meta(ge=0, lt=2**32)]
Likely = tuple[int, Bits]


class Given(msgspec.Struct):
    """One answer, as ``inside/arms.py`` writes it of an arm that is exact."""

    prompt: str
    prompt_tokens: int
    cached_tokens: int
    ids: list[int]
    text: str
    bits: list[Bits]
    likeliest: list[tuple[Likely, Likely]]


class Exchanged(msgspec.Struct):
    """The answers with two experts' rows exchanged."""

    layer: str
    completions: list[Given]


class Before(msgspec.Struct):
    """What the engine had done before."""

    tokens: Annotated[int, msgspec.Meta(ge=0)]
    banks: list[dict[str, Any] | None]


class Found(msgspec.Struct):
    """All that is read of a result."""

    vllm_file: str
    compiled: bool
    completions: list[Given]
    together: dict[str, list[Given]]
    status: list[dict[str, Any]]
    usage: list[dict[str, Any] | None]
    banks: list[dict[str, Any] | None]
    moe: list[dict[str, int]]
    exchange: Exchanged | None
    earlier: Before


def read_found(content: bytes, arm: Arm) -> Mapping[str, Any] | None:
    """Read a result; None where it is not whole, or does not answer what the arm is asked."""
    try:
        result: dict[str, Any] = json.loads(content)
        found = msgspec.convert(result, Found)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    passes = [found.completions, *found.together.values()]
    passes += [found.exchange.completions] if found.exchange else []
    whole_answers = (
        [*found.together] == [str(count) for count in arm.together]
        and bool(found.exchange) == arm.exchange
        and all([each.prompt for each in one] == [*arm.prompts] for one in passes)
        and all(whole(each) for one in passes for each in one)
    )
    return result if whole_answers else None


def whole(given: Given) -> bool:
    """Whether an answer has the logprobs of all its tokens."""
    return len(given.ids) == len(given.bits) == len(given.likeliest)
