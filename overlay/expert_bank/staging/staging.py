# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Reads the cold rows of prefill steps out of device memory, to which they come a layer ahead."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict
from typing import Any

import torch

from expert_bank.bank import LayerBank
from expert_bank.refused import worded
from expert_bank.staging.ahead import Ahead, Arrived
from expert_bank.staging.decision import FAILED, UNFILLED, Decision
from expert_bank.staging.layer_stage import LayerStage
from expert_bank.staging.room import FIELD
from expert_bank.staging.side_thread import Side
from expert_bank.staging.slots import Slots
from expert_bank.staging.staged import Staged
from expert_bank.table import Table

NAN = 0xFF


class Staging:
    """Stages the steps that its decision takes.

    Attributes:
        layers: By number, those that have cold rows.
        decision: Which steps are staged.
        done: What was done.
        off: Why nothing is staged any more; empty where all is well.
        poison: Whether the buffer is made NaN behind each step.
        warn: Called with a line for people once nothing is staged any more.
    """

    def __init__(
        self,
        banks: Sequence[LayerBank],
        table: Table,
        slots: Slots,
        side: Side,
        decision: Decision,
    ) -> None:
        self.layers = {each: LayerStage(banks[each], table, each, slots) for each in slots.layers}
        self.decision = decision
        self.done = Staged()
        self.off = ""
        self.poison = False
        self.warn: Callable[[str], None] = _ignored
        self._table, self._slots = table, slots
        self._ahead = Ahead(self.layers, slots, side)
        self._on = False
        self._only: int | None = None
        table.watchers.append(self._changed)

    def step(self, tokens: int, *, prefill: bool, captured: bool) -> AbstractContextManager[None]:
        """Enter what a step's forward runs in; see ``Decision.takes``."""
        if not self.decision.takes(
            tokens, prefill=prefill, captured=captured, against=self._against
        ):
            return nullcontext()
        self.done.steps += 1
        self.done.tokens += tokens
        return self._staged()

    def enter(self, layer: int) -> torch.Tensor:
        """Give the table by which a layer's picks are mapped; its rows are there from here on.

        Args:
            layer: That runs next. All before it are enqueued.

        Returns:
            int32[4, E]: the layer's own where its rows are read in place.
        """
        stage = self.layers.get(layer)
        if stage is None:
            return self._table.device[layer]
        # A layer may run twice in a step, and read in place then what it had in its slots before.
        stage.read = False
        if not self._on or self._only not in {None, layer}:
            return self._table.device[layer]
        try:
            found = self._ahead.arrive(layer)
            self._require_there(stage, found)
            if self._only is None:
                self._ahead.follow(layer)
        except Exception as error:  # noqa: BLE001 - a copy, or a device, raises what it likes
            self._fail(f"{stage.bank.name} could not be staged, and is read in place", error)
            return self._table.device[layer]
        self.done.rows += found.rows
        self.done.bytes += found.bytes
        self.done.late += found.late
        stage.read = True
        return stage.table

    def fits(self, layer: int) -> bool:
        """Bring a layer's table up to date; whether there is a slot for each of its cold rows.

        There is not where hot rows are empty, as behind a boot map that is.
        """
        stage = self.layers[layer]
        stage.refresh()
        return stage.fits

    def look(self) -> None:
        """End staging where a comparison found another row; waits for the device."""
        for line in self.audit():
            self._turn_off(line)

    @contextmanager
    def checking(self, layer: int) -> Iterator[None]:
        """Stage one layer in the block, for a check; it ``fits``. Only what fails counts."""
        kept, self.done = self.done, Staged()
        # Others may have no slots, and none of them is to come ahead.
        self._only = layer
        try:
            with self._staged():
                yield
        finally:
            self._only = None
            kept.failed += self.done.failed
            self.done = kept

    @contextmanager
    def warming(self) -> Iterator[None]:
        """Have kernels that are tuned for the slots apart see them in the block, which serves nobody."""
        for stage in self.layers.values():
            stage.warm = True
        try:
            yield
        finally:
            for stage in self.layers.values():
                stage.warm = False

    def buffer(self) -> list[torch.Tensor]:
        """List the buffer's rows of each tensor, [S, ...], which all layers share."""
        stage = self.layers[self._slots.layers[0]]
        return [each.stage for each in stage.bank.tensors if each.stage is not None]

    def told(self) -> dict[str, Any]:
        """Tell how it stands, as values that JSON can carry."""
        return {
            **asdict(self.done),
            **self.decision.told(),
            "buffer": sum(each.nbytes for each in self.buffer()),
            "slots": {number: self._slots.whole(number).count for number in self.layers},
            "off": self.off,
        }

    def stats(self) -> dict[str, Any]:
        """Tell what ``stats_file.STAGING`` has of it."""
        told = self.decision.told()
        return {
            **asdict(self.done),
            "refused": told["refused"],
            "least_tokens": told["least_tokens"],
            "on": self.decision.wanted and not self.off,
        }

    def audit(self) -> Iterator[str]:
        """Yield which layers had rows in their slots that are not the cold ones; waits for the device."""
        wrong = torch.cat([stage.wrong for stage in self.layers.values()]).tolist()
        for stage, count in zip(self.layers.values(), wrong, strict=True):
            if count:
                yield f"{stage.bank.name}: {count} staged rows were not what they are copies of"

    @contextmanager
    def _staged(self) -> Iterator[None]:
        self._on = True
        try:
            try:
                if self._only is None:
                    self._ahead.first()
            except Exception as error:  # noqa: BLE001 - the same
                self._fail("no row could be staged", error)
            yield
        finally:
            self._on = False
            for stage in self.layers.values():
                stage.read = False
            for failure in self._ahead.drain():
                self._turn_off(f"rows that nobody read could not be staged: {failure}")
            if self.poison:
                for each in self.buffer():
                    each.reshape(-1).view(torch.uint8).fill_(NAN)

    def _against(self) -> str:
        """Tell what stands against a step that is worth it: a failure, or a layer without slots."""
        if self.off:
            return FAILED
        return "" if all(self.fits(layer) for layer in self.layers) else UNFILLED

    def _require_there(self, stage: LayerStage, found: Arrived) -> None:
        """See that the bytes were copied, and one row of them, another one each step, to the last bit."""
        if found.bytes != found.rows * stage.bank.row_bytes:
            raise RuntimeError(f"{found.bytes} bytes were copied of {found.rows} rows")
        index = self.done.steps % found.rows
        if stage.compare(index):
            raise RuntimeError(f"cold row {stage.rows[index]} is not in its slot")

    def _fail(self, what: str, error: Exception) -> None:
        """Read in place from here on, for good: who copies wrongly once is not asked again."""
        self._on = False
        self.done.failed += 1
        self._turn_off(f"{what}: {worded(error)}")

    def _turn_off(self, why: str) -> None:
        if not self.off:
            self.off = why
            self.warn(f"{FIELD}: nothing is staged from here on: {why}")

    def _changed(self, layer: int) -> None:
        if (stage := self.layers.get(layer)) is not None:
            stage.mark()


def _ignored(_line: str) -> None:
    """Nobody is told."""
