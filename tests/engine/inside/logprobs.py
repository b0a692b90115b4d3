"""The sampled tokens' logprobs of an answer, bit by bit."""

import struct
from typing import Any


def bits(answer: Any) -> list[str]:  # noqa: ANN401 - vLLM's
    """Give each one's float32, in hexadecimal; the answer was asked with ``logprobs``."""
    places = zip(answer.token_ids, answer.logprobs, strict=True)
    return [struct.pack("<f", place[token].logprob).hex() for token, place in places]
