# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What the requests that run will pick, by their prompts and by requests that had such prompts.

The prompt of a request is routed before it answers: its EAM (int64[L, E], picks of each expert) is
held against those of prompts that are through, and what it is most like is what it is expected to
pick. NumPy alone, and no clock: an engine and a replay of its picks come to the same.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from expert_bank.eams.collection import Collection, Picks
from expert_bank.eams.prediction import Shares, normalised, predicted


@dataclass(eq=False)
class Prompt:
    """Of a request that runs.

    Attributes:
        eam: int64[L, E].
        computed: Tokens of it that are in there, or that the prefix cache had.
    """

    eam: Picks
    computed: int


class RunningEams:
    """EAMs of the prompts of requests that run, and of those that ran.

    Attributes:
        past: Of requests that ended.
        nearest: How many of them a prediction sums.
        predictions: How often requests that run were told by those that ran.
    """

    def __init__(self, layers: int, experts: int, capacity: int, nearest: int = 1) -> None:
        self.past = Collection(layers, experts, capacity)
        self.nearest = nearest
        self.predictions = 0
        self._shape = (layers, experts)
        self._prompts: dict[int, Prompt] = {}

    def see(self, request: int, start: int, ids: NDArray[np.integer]) -> None:
        """Take in a part of a prompt.

        Args:
            request: Its number.
            start: Place in the prompt; one that was seen says that the request was preempted, and
                begins anew.
            ids: int[T, L, k], logical experts.
        """
        prompt = self._prompts.get(request)
        if prompt is None or start < prompt.computed:
            prompt = self._prompts[request] = Prompt(np.zeros(self._shape, np.int64), start)
        layers, experts = self._shape
        cells = ids.astype(np.int64) + np.arange(layers)[:, None] * experts
        prompt.eam += np.bincount(cells.ravel(), minlength=layers * experts).reshape(self._shape)
        prompt.computed = start + len(ids)

    def end(self, request: int) -> None:
        """Keep the EAM of a request that ended, and forget it."""
        if (prompt := self._prompts.pop(request, None)) is not None:
            self.past.add(prompt.eam)

    def wanted(self) -> Shares | None:
        """Predict what all requests that run will pick, in shares of each layer's picks.

        Returns:
            float64[L, E], the mean of what each is predicted; None where nothing is known.
        """
        found = [
            shares
            for _, prompt in sorted(self._prompts.items())
            if (shares := predicted(self.past, prompt.eam, self.nearest)) is not None
        ]
        if not found:
            return None
        self.predictions += 1
        return normalised(np.sum(found, axis=0))

    def told(self) -> dict[str, int]:
        """Tell how it stands, as values that JSON can carry."""
        return {
            "kept": len(self.past),
            "running": len(self._prompts),
            "predictions": self.predictions,
        }
