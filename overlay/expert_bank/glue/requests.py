# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Which tokens a step schedules: whose, and in which phase, by the scheduler's own words."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from expert_bank.glue.prompts import prompt_length
from expert_bank.recording.frames import DECODE, PREFILL, VERIFY


@dataclass(frozen=True)
class Scheduled:
    """What a step computes of one request.

    Attributes:
        number: Of the request, in the order in which they came.
        computed: Tokens of it that were there before.
        tokens: How many.
        drafts: How many of them, the last, are drafts under verify.
        phase: Of all of them.
    """

    number: int
    computed: int
    tokens: int
    drafts: int
    phase: int


class Requests:
    """Knows the requests that a worker has.

    Attributes:
        ended: Numbers of those that the last step told to have ended, the oldest first.
    """

    def __init__(self) -> None:
        self.ended: tuple[int, ...] = ()
        self._prompts: dict[str, int] = {}
        self._numbers: dict[str, int] = {}
        self._next = 0

    def step(self, scheduler_output: Any) -> dict[str, Scheduled]:  # noqa: ANN401 - vLLM's
        """Take in a step.

        To be asked of every step once, those without tokens too: they tell which requests ended.

        Returns:
            By the name of each request what is computed of it.
        """
        known = [name for name in scheduler_output.finished_req_ids if name in self._numbers]
        self.ended = tuple(sorted(self._numbers.pop(name) for name in known))
        for name in known:
            self._prompts.pop(name)
        for each in scheduler_output.scheduled_new_reqs:
            # One that was preempted may come as a new one again, with its answer so far.
            if each.req_id not in self._numbers:
                self._prompts[each.req_id] = prompt_length(each)
                self._numbers[each.req_id] = self._next
                self._next += 1
        drafts = scheduler_output.scheduled_spec_decode_tokens
        scheduled = scheduler_output.num_scheduled_tokens
        return {
            name: self._scheduled(name, computed, scheduled[name], len(drafts.get(name, ())))
            for name, computed in _computed(scheduler_output)
            if scheduled.get(name)
        }

    def _scheduled(self, name: str, computed: int, tokens: int, drafts: int) -> Scheduled:
        phase = VERIFY if drafts else DECODE
        if computed < self._prompts[name]:
            phase = PREFILL
        return Scheduled(self._numbers[name], computed, tokens, drafts, phase)


def _computed(scheduler_output: Any) -> Iterator[tuple[str, int]]:  # noqa: ANN401 - vLLM's
    for each in scheduler_output.scheduled_new_reqs:
        yield each.req_id, each.num_computed_tokens
    cached = scheduler_output.scheduled_cached_reqs
    yield from zip(cached.req_ids, cached.num_computed_tokens, strict=True)
