# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Where the picks of a running forward are kept, at addresses that never change."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray


class Kept:
    """Picks of every layer of the last forward.

    Attributes:
        ids: int32[L, M, k] on the device.
        weights: float32[L, M, k], the same.
        hidden: float16[L, M, h], the same; None where no hidden states are kept.
    """

    def __init__(
        self, layers: int, rows: int, picks: int, device: torch.device, hidden: int = 0
    ) -> None:
        """Make room.

        Args:
            layers: L.
            rows: M, of the largest forward, padding included.
            picks: k.
            device: Where the experts run.
            hidden: h; 0 to keep none.
        """
        self.ids = torch.zeros((layers, rows, picks), dtype=torch.int32, device=device)
        self.weights = torch.zeros((layers, rows, picks), dtype=torch.float32, device=device)
        self.hidden = (
            torch.zeros((layers, rows, hidden), dtype=torch.float16, device=device)
            if hidden
            else None
        )

    def read(
        self, tokens: int
    ) -> tuple[NDArray[np.uint16], NDArray[np.float32], NDArray[np.float16] | None]:
        """Read the rows of a forward that is enqueued; waits for the device.

        Args:
            tokens: T; what is behind them is padding.

        Returns:
            ids [T, L, k], weights [T, L, k], and hidden states [T, L, h] or None.
        """
        hidden = None if self.hidden is None else _tokens_first(self.hidden, tokens)
        return self.read_ids(tokens), _tokens_first(self.weights, tokens), hidden

    def read_ids(self, tokens: int) -> NDArray[np.uint16]:
        """Read the ids alone, [T, L, k]; else the same."""
        return _tokens_first(self.ids, tokens).astype(np.uint16)


def _tokens_first(kept: torch.Tensor, tokens: int) -> NDArray[Any]:
    read: NDArray[Any] = kept[:, :tokens].transpose(0, 1).contiguous().cpu().numpy().copy()
    return read
