# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What a worker answers to ``collective_rpc`` about this package."""

import os
from typing import Any

from expert_bank import __version__
from expert_bank.glue import plugin


class WorkerExtension:
    """Methods that ``--worker-extension-cls`` adds to vLLM's worker.

    Attributes:
        vllm_config: The worker's own configuration, set by vLLM.
    """

    vllm_config: Any

    def expert_bank_status(self) -> dict[str, Any]:
        """Report how this worker runs, as values that JSON can carry.

        Returns:
            ``plugin``: whether vLLM loaded the entry point in this process. ``version``: of this
            package. ``pid``: of the worker. ``moe_usage_counter``: the field of
            ``OffloadConfig``, or None where this vLLM does not have it.
        """
        return {
            "plugin": plugin.registered(),
            "version": __version__,
            "pid": os.getpid(),
            "moe_usage_counter": getattr(
                self.vllm_config.offload_config, "moe_usage_counter", None
            ),
        }
