# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Has a map follow what the requests that run are like: their prompts, as the worker routes them."""

from expert_bank.eams.running import RunningEams
from expert_bank.glue.routed import Routed
from expert_bank.recording.frames import PREFILL


class PromptEams:
    """Stands around the forwards of a worker.

    Attributes:
        eams: Are told of prompts and of ends.
    """

    def __init__(self, routed: Routed, eams: RunningEams) -> None:
        self._routed = routed
        self.eams = eams

    def before(self) -> None:
        """Take in which requests ended before this step, before its barrier."""
        for number in self._routed.ended:
            self.eams.end(number)

    def after(self) -> None:
        """Read what the step routed of prompts; a step without any is not waited for."""
        scheduled = self._routed.scheduled
        if all(each.phase != PREFILL for each in scheduled.values()):
            return
        order = [scheduled[name] for name in self._routed.order()]
        ids = self._routed.kept.read_ids(sum(each.tokens for each in order))
        start = 0
        for each in order:
            if each.phase == PREFILL:
                self.eams.see(each.number, each.computed, ids[start : start + each.tokens])
            start += each.tokens
