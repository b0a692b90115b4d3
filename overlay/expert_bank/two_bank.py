# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""A model's experts in two banks: banks, table, counter and barrier together."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

import numpy as np
import torch

from expert_bank.bank import LayerBank
from expert_bank.barrier import SLEEP, Barrier
from expert_bank.cold_file import ColdFile
from expert_bank.counter import PickCounter
from expert_bank.eams.running import RunningEams
from expert_bank.following import Followed, Following
from expert_bank.plan import Plan
from expert_bank.refused import Refused
from expert_bank.seams import Used
from expert_bank.staging.staging import Staging
from expert_bank.swapping import Copy, Swapper, plain_copy
from expert_bank.table import Table
from expert_bank.table_layout import COLD
from expert_bank.watch import Watch


class TwoBank:
    """What a worker keeps of a model whose experts are in two banks.

    Attributes:
        table: Where each expert is.
        counter: Picks by layer, bank and expert.
        barrier: Where rows are swapped.
        swapper: How.
        audits: Yield what else is wrong, one line each; a kernel's own checks.
        used: Whose code serves each seam.
        kept: What the banks' memory and its registration hang on.
        resident: Layers of a draft model, all of whose experts are in device memory.
        boot: bool[E] of each layer: which experts were hot at boot.
        following: Has the map follow traffic; None while it does not.
        eams: Tell what the requests that run will pick; None where the map goes by what was picked.
        earlier: What was done while the map followed traffic, up to when it last ceased to.
        file: Has the cold rows; None where host memory has.
        staging: Brings the cold rows of prefill steps; None where all are read in place.
        unstaged: Why nothing is staged, where it is asked for; else empty.
        watch: Tells how the map does; None where nobody is told.
        plan: What the banks were planned as; None where nobody planned them.
    """

    def __init__(
        self,
        banks: Sequence[LayerBank],
        table: Table,
        counter: PickCounter,
        sums: Sequence[torch.Tensor],
        drain: Callable[[], None],
        copy: Copy = plain_copy,
        used: Sequence[Used] = (),
    ) -> None:
        self.table = table
        self.counter = counter
        self.used = tuple(used)
        self.swapper = Swapper(banks, table, sums, copy)
        self.barrier = Barrier(self.swapper, drain)
        self.audits: list[Callable[[], Iterable[str]]] = []
        self.kept: tuple[object, ...] = ()
        self.resident: tuple[str, ...] = ()
        self.boot = tuple(table.is_hot())
        self.following: Following | None = None
        self.eams: RunningEams | None = None
        self.earlier = Followed()
        self.file: ColdFile | None = None
        self.staging: Staging | None = None
        self.unstaged = ""
        self.watch: Watch | None = None
        self.plan: Plan | None = None

    def audit(self) -> list[str]:
        """Compare every expert's row, and the device's table, with what they must be.

        Returns:
            What is wrong, one line each; empty where all is right.
        """
        wrong = []
        for layer, bank in enumerate(self.swapper.banks):
            wrong += [
                f"{bank.name}, expert {expert}: the device's table has it elsewhere than the host's"
                for expert in self.table.differing(layer)
            ]
            wrong += [
                f"{bank.name}, expert {expert}: its entry's failed change was not taken back"
                for expert in sorted(self.table.torn[layer])
            ]
            for expert in range(bank.experts):
                where = self.table.where(layer, expert)
                wrong.append(self.swapper.loaded.wrong(layer, expert, *where))
        return [*filter(None, wrong), *(line for audit in self.audits for line in audit())]

    def require_awake(self, what: str) -> None:
        """Go on where device memory may be read and written; elsewhere that would end the process.

        Args:
            what: Is to be done, for the message.

        Raises:
            Refused: The engine sleeps.
        """
        if SLEEP in self.barrier.closed:
            raise Refused(f"{what}: the weights are asleep", hint="wake_up brings them back")

    def step(
        self, tokens: int = 0, *, prefill: bool = False, captured: bool = False
    ) -> AbstractContextManager[None]:
        """Enter what a step's forward runs in.

        Args:
            tokens: Scheduled in it.
            prefill: Whether it computes a prompt, by the scheduler's word.
            captured: Whether a graph is replayed for it.
        """
        if self.staging is not None:
            return self.staging.step(tokens, prefill=prefill, captured=captured)
        return nullcontext() if self.file is None else self.file.step()

    def _told_staging(self) -> dict[str, Any] | None:
        if self.staging is not None:
            return self.staging.told()
        return {"off": self.unstaged} if self.unstaged else None

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        """Leave out what a check enters of the seams while the block runs."""
        with ExitStack() as stack:
            for each in self.used:
                stack.enter_context(each.uncounted())
            yield

    @property
    def followed(self) -> Followed:
        """What was done while the map followed traffic, since start."""
        return self.earlier if self.following is None else self.following.done

    def told(self) -> dict[str, Any]:
        """Tell how it stands, as values that JSON can carry.

        Raises:
            Refused: The counts are not exact.
        """
        picks = self.counter.by_bank()
        hot, cold = picks.sum(axis=(0, 2)).tolist()
        row_bytes = [bank.row_bytes for bank in self.swapper.banks]
        # What the file's own count, of each step's rows, cannot be less than.
        once = int((picks[:, COLD] > 0).sum(axis=1) @ np.array(row_bytes))
        return {
            "hot_rows": list(self.table.hot),
            "hot_picks": hot,
            "cold_picks": cold,
            "resident": list(self.resident),
            "row_bytes": row_bytes,
            "file": self.file and {**self.file.told(), "once": once},
            "follows": None if self.following is None else self.following.told(),
            "staging": self._told_staging(),
            "seams": {each.seam: each.told() for each in self.used},
            **self.barrier.told(),
        }
