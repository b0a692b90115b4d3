# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""A thread beside the engine's own that copies rows: what a side stream is on a CPU."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

from expert_bank.staging.batched import one_by_one
from expert_bank.staging.copies import Copies


class Pending(Protocol):
    """Copies that were begun."""

    def wait(self) -> int:
        """Have what is enqueued from here on come behind them; how many bytes they are.

        Raises:
            Exception: Whatever the copy raised.
        """


class Side(Protocol):
    """Where copies are made beside the forward."""

    def begin(self, copies: Copies) -> Pending:
        """Begin them behind what is enqueued so far, and behind those that were begun before."""


class _Begun:
    def __init__(self, future: "Future[int]") -> None:
        self._future = future

    def wait(self) -> int:
        return self._future.result()


class SideThread:
    """Copies in the order in which it was asked to, in one thread that is begun when first asked."""

    def __init__(self, copy: Callable[[Copies], int] = one_by_one) -> None:
        self._copy = copy
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="expert_bank-stage")

    def begin(self, copies: Copies) -> Pending:
        """Begin copies; kernels that were called have ended by now, on a CPU."""
        return _Begun(self._pool.submit(self._copy, copies))
