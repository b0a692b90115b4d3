"""What a boot asks: four short prompts, and a long one where prompts are what a feature is for."""

from collections.abc import Mapping

from lanewright.serve.boot import PROMPTS
from lanewright.serve.features import STAGE
from lanewright.serve.length import ROOM, answer_tokens

# In characters, which are as many tokens at most and seldom fewer than a fourth.
LONGEST = 16384


def boot_prompts(engine: Mapping[str, object]) -> tuple[str, ...]:
    """List the prompts for an engine with these arguments.

    Raises:
        LanewrightError: An argument is not what it can be.
    """
    if not engine.get(STAGE):
        return PROMPTS
    most = engine.get("max_model_len")
    room = most - answer_tokens(engine) - ROOM if isinstance(most, int) else LONGEST
    return (*PROMPTS, _long(max(1, min(room, LONGEST))))


def _long(length: int) -> str:
    """Count lines up to a length, no two alike; of single-byte characters alone."""
    text, line = "", 0
    while len(text) < length:
        line += 1
        text += (
            f"{line * line % 997} experts of layer {line} answer, {line * 7 % 89} of them cold. "
        )
    return text[:length]
