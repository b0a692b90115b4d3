# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""``--worker-cls=expert_bank.glue.cpu_worker.CPUWorker``."""

from vllm.v1.worker import cpu_worker

from expert_bank.glue.worker import BankWorker
from expert_bank.matrix_tiles import ask_for_tiles


class CPUWorker(BankWorker, cpu_worker.CPUWorker):
    """vLLM's worker for CPUs, with ours before it."""

    def init_device(self) -> None:
        """Have the CPU's matrix tiles before anything computes."""
        ask_for_tiles()
        super().init_device()
