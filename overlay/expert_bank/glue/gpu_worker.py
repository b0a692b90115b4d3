# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""``--worker-cls=expert_bank.glue.gpu_worker.Worker``."""

from vllm.v1.worker import gpu_worker

from expert_bank.glue.worker import BankWorker


class Worker(BankWorker, gpu_worker.Worker):
    """vLLM's worker for CUDA devices, with ours before it."""
