# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""A cache that keeps what is used often, and among those what was used lately."""


class ExpertCache:
    """Least frequently, then least recently used goes first."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.hits = 0
        self.misses = 0
        self._clock = 0
        self._used: dict[int, tuple[int, int]] = {}

    def __contains__(self, expert: int) -> bool:
        return expert in self._used

    def use(self, expert: int) -> int | None:
        """Note one use; gives the expert that had to go for it, if one had."""
        self._clock += 1
        count, _ = self._used.get(expert, (0, 0))
        gone = None
        if count:
            self.hits += 1
        else:
            self.misses += 1
            if len(self._used) >= self.capacity:
                gone = min(self._used, key=self._used.__getitem__)
                del self._used[gone]
        self._used[expert] = (count + 1, self._clock)
        return gone
