# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Entry point of the ``vllm.general_plugins`` group."""

import os

from vllm.logger import init_logger

from expert_bank import __version__
from expert_bank.glue import metrics

# Below vLLM's own logger: only that tree has a handler, so INFO from elsewhere is lost.
logger = init_logger(f"vllm.{__name__}")

_registered_in: set[int] = set()


def register() -> None:
    """Join this process of vLLM; calling it again changes nothing.

    vLLM calls it once in every process that it starts, before a worker class is resolved.
    """
    pid = os.getpid()
    if pid in _registered_in:
        return
    _registered_in.add(pid)
    logger.info("expert_bank %s is in", __version__)
    metrics.join()


def registered() -> bool:
    """Tell whether vLLM called ``register`` here or in the process this one was forked from."""
    return bool(_registered_in)
