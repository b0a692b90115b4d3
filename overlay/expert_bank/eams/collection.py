# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""EAMs of past requests (the paper's EAMC), and which of them a request is most like.

An EAM (expert activation matrix) is int64[L, E]: the picks of each expert in one request. Those of
prefill and decode are kept apart, in a collection each.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Picks = NDArray[np.int64]  # [L, E]
Replaced = Literal["nearest", "least accessed"]


class Collection:
    """So many EAMs at most.

    Attributes:
        capacity: How many.
        replaced: Which one makes room in a full collection: the nearest to the new one, as the
            paper has it, or the least accessed, as its published code has it.
        eams: int64[capacity, L, E]; the first ``len`` of them are there.
        accessed: int64[capacity], how often each was matched, and once for its coming.
    """

    def __init__(
        self, layers: int, experts: int, capacity: int, replaced: Replaced = "nearest"
    ) -> None:
        if capacity < 1:
            raise ValueError(f"a collection of {capacity} EAMs")
        self.capacity = capacity
        self.replaced = replaced
        self.eams = np.zeros((capacity, layers, experts), np.int64)
        self.accessed = np.zeros(capacity, np.int64)
        # Each flattened, of length 1: a query is one product.
        self._units = np.zeros((capacity, layers * experts), np.float32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, eam: Picks) -> None:
        """Take in a request's; one without picks is like none, and left out.

        Args:
            eam: int64[L, E].
        """
        if not eam.any():
            return
        place = self._count
        if place < self.capacity:
            self._count += 1
        elif self.replaced == "nearest":
            place = int(self.similar(eam).argmax())
        else:
            place = int(self.accessed.argmin())
        flat = eam.ravel().astype(np.float64)
        self._units[place] = flat / np.sqrt(flat @ flat)
        self.eams[place] = eam
        self.accessed[place] = 1

    def similar(self, eam: Picks) -> NDArray[np.float32]:
        """Tell how like each EAM is: its cosine, times the length of ``eam``.

        The length is the same for all, and orders none.

        Args:
            eam: int64[L, E], of a request that may have just begun.

        Returns:
            float32[len].
        """
        found: NDArray[np.float32] = self._units[: self._count] @ eam.ravel().astype(np.float32)
        return found

    def nearest(self, eam: Picks, many: int = 1) -> NDArray[np.int64]:
        """Find the EAMs at the least cosine distance, and note that they were accessed.

        Args:
            eam: int64[L, E].
            many: How many, as far as there are so many.

        Returns:
            int64[many], the nearest first; of two alike the older place.
        """
        similar = self.similar(eam)
        if many == 1 and self._count:
            found = np.array([similar.argmax()])
        else:
            found = np.argsort(-similar, kind="stable")[:many]
        self.accessed[found] += 1
        return found
