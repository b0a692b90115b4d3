# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""A worker's sleep with experts in two banks: what stands before and behind vLLM's own."""

import time
from typing import TYPE_CHECKING, Any

import torch
from vllm.logger import init_logger

from expert_bank.asleep import WAKE, WEIGHTS, Asleep, backs_up_rows
from expert_bank.config import BankConfig
from expert_bank.cuda_registration import register_with_cuda, unregister_with_cuda
from expert_bank.glue.pool import CuMemPool
from expert_bank.host_budget import host_budget
from expert_bank.host_memory import HostMemory
from expert_bank.pages import HostPages
from expert_bank.refused import Refused, worded
from expert_bank.registration import Registration
from expert_bank.two_bank import TwoBank

if TYPE_CHECKING:
    from vllm.v1.worker.gpu_worker import Worker as Base
else:
    Base = object

logger = init_logger(f"vllm.{__name__}")


class SleepingWorker(Base):
    """Mixed in before a worker class of vLLM.

    Attributes:
        two_bank: The experts in two banks, or None where they are all resident.
        asleep: From a sleep on until the weights were seen to be as before it.
    """

    two_bank: TwoBank | None = None
    asleep: Asleep | None = None

    def sleep(self, level: int = 1) -> Any:  # noqa: ANN401 - vLLM's, whatever it gives
        """Sleep as vLLM does, and keep what it would discard of two banks.

        Raises:
            Refused: The banks cannot sleep here, or not at this level, or host memory has no room;
                nothing was discarded. vLLM has stopped its scheduler by then, and leaves it so.
        """
        if self.two_bank is None:
            return super().sleep(level)
        self._require_can_sleep(level)
        if self.asleep is not None:
            # The weights are asleep, and level 2 would read them.
            return super().sleep(1)
        self.asleep = self._kept(self.two_bank)
        logger.info("expert_bank: falls asleep: %s", self.asleep.line)
        try:
            return super().sleep(1 if backs_up_rows(self.two_bank) else 2)
        except Exception as error:
            # Some of it may be gone, and vLLM takes the engine for awake.
            try:
                self.wake_up()
            except Exception as left:  # noqa: BLE001 - told with the first
                error.add_note(f"and it was not woken again: {worded(left)}")
            raise

    def wake_up(self, tags: list[str] | None = None) -> Any:  # noqa: ANN401 - the same
        """Wake as vLLM does; behind the weights, bring back two banks and see that they are whole.

        Raises:
            NotRestored: A row or an entry is not as before; the barrier stays closed.
            Moved: A bank or a table is elsewhere; the same.
        """
        woken = super().wake_up(tags)
        if self.asleep is not None and self.asleep.mapped():
            start = time.perf_counter()
            rows = self.asleep.end()
            kept, self.asleep = self.asleep.kept, None
            logger.info(
                "expert_bank: awake: %d hot rows out of the mirror; every row and table is as before"
                " (%.2f s)",
                rows,
                time.perf_counter() - start,
            )
            try:
                kept.close()
            except Refused as error:
                logger.warning("expert_bank: %s", error)
        return woken

    def discard(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the same
        """Discard what vLLM would, but no weights of two banks.

        Raises:
            Refused: The weights are among it.
            NotImplementedError: This vLLM does not discard by tag; 0.31 does.
        """
        # Their tags, or one of them as mere text.
        named = (*args, *kwargs.values())
        if self.two_bank is not None and any(WEIGHTS in each for each in named):
            raise Refused(
                "discard: weights cannot be discarded while experts are in two banks"
                " (moe_hot_experts)",
                hint="sleep keeps what is needed to wake again",
            )
        discard = getattr(super(), "discard", None)
        if discard is None:
            raise NotImplementedError("discard: this vLLM has no such call")
        return discard(*args, **kwargs)

    def _require_can_sleep(self, level: int) -> None:
        if self.device.type == "cpu":
            raise Refused(
                "sleep: the engine cannot sleep while experts are in two banks (moe_hot_experts)",
                hint=f"{WAKE}; start it without moe_hot_experts to sleep",
            )
        if not self.vllm_config.model_config.enable_sleep_mode:
            raise Refused(
                "sleep: the engine was started without enable_sleep_mode, and its memory cannot be"
                " let go",
                hint=f"{WAKE}; start it with --enable-sleep-mode",
            )
        if level != 1 and self.two_bank is not None and backs_up_rows(self.two_bank):
            raise Refused(
                f"sleep: level {level} discards the hot rows, and with moe_cold_rows exclusive there"
                " is no other copy of them; nothing was discarded",
                hint=f"{WAKE}; sleep at level 1, or start it with moe_cold_rows mirror",
            )

    def _kept(self, two_bank: TwoBank) -> Asleep:
        memory = HostMemory(wanted=BankConfig.read(self.vllm_config.offload_config).node)
        return Asleep(
            two_bank,
            CuMemPool(),
            budget=lambda: host_budget(node=memory.node),
            memory=memory.map,
            pin=_pinned,
            reusable=_cached(),
        )


def _pinned(pages: HostPages) -> Registration:
    return Registration(pages, register=register_with_cuda, unregister=unregister_with_cuda)


def _cached() -> int:
    """Bytes that torch's pinned allocator has in hand: an earlier backup's, which it takes again."""
    stats = torch.cuda.host_memory_stats()
    taken: int = stats.get("allocated_bytes.current", 0) - stats.get("active_bytes.current", 0)
    return taken
