# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Which steps compute a prompt: by the scheduler's word, never by their shape."""

from typing import Any


class Prompts:
    """Knows how long the prompts of the requests are that a worker has."""

    def __init__(self) -> None:
        self._lengths: dict[str, int] = {}

    def prefills(self, scheduler_output: Any) -> bool:  # noqa: ANN401 - vLLM's
        """Tell whether a step has a request of whose prompt a token is still to be computed.

        To be asked of every step once, those without tokens too: they tell which requests ended.
        """
        for name in scheduler_output.finished_req_ids:
            self._lengths.pop(name, None)
        found = False
        for each in scheduler_output.scheduled_new_reqs:
            length = self._lengths[each.req_id] = prompt_length(each)
            found |= each.num_computed_tokens < length
        cached = scheduler_output.scheduled_cached_reqs
        for name, computed in zip(cached.req_ids, cached.num_computed_tokens, strict=True):
            found |= computed < self._lengths.get(name, 0)
        return found


def prompt_length(request: Any) -> int:  # noqa: ANN401 - the same
    """Count the tokens of a request's prompt, text or embeddings."""
    if request.prompt_token_ids is not None:
        return len(request.prompt_token_ids)
    embedded = request.prompt_embeds
    return 0 if embedded is None else int(embedded.shape[0])
