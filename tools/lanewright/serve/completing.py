"""One greedy completion of vLLM's OpenAI server: what is asked, and what comes back."""

from collections.abc import Mapping
from typing import Any

from lanewright.serve.boot import Completion
from lanewright.serve.client import RefusedError


def completion_body(model: str, prompt: str, tokens: int) -> dict[str, Any]:
    """What ``/v1/completions`` is asked for so many tokens, each with its id."""
    return {
        "model": model,
        "prompt": prompt,
        "max_tokens": tokens,
        "temperature": 0,
        "ignore_eos": True,
        "return_token_ids": True,
    }


def read_completion(prompt: str, answer: Mapping[str, Any]) -> Completion:
    """What it answered.

    Raises:
        RefusedError: Without token ids, or without their count.
    """
    try:
        choice, usage = answer["choices"][0], answer["usage"]
        return Completion(
            prompt=prompt,
            ids=tuple(choice["token_ids"]),
            text=choice["text"],
            prompt_tokens=usage["prompt_tokens"],
            # Left out where there are none.
            cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
        )
    except (KeyError, IndexError, TypeError) as error:
        raise RefusedError(f"/v1/completions answered without token ids: {answer}") from error
