# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The name that the processes of one server share, in their environment.

The standard library alone.
"""

import os
import secrets
import sys
from functools import cache
from multiprocessing import current_process, parent_process

from expert_bank.config import SERVER


@cache  # a process that was forked from one is of its server
def name_server() -> None:
    """Name the server that this process is the first of; the others have its name already.

    A name that a first process has in its environment is that of whoever started it: a program that
    loaded the plugins itself, and may start another server beside this one.
    """
    if SERVER not in os.environ or not (_started_by_multiprocessing() or _is_actor()):
        os.environ[SERVER] = secrets.token_hex(8)


def _started_by_multiprocessing() -> bool:
    # Of a spawned one that still imports its main module the former does not tell yet.
    return parent_process() is not None or getattr(current_process(), "_inheriting", False)


def _is_actor() -> bool:
    """Tell whether Ray started this process for somebody, who gave it a name if it has one."""
    ray = sys.modules.get("ray")  # in an actor it is there
    if ray is None or not ray.is_initialized():
        return False
    return ray.get_runtime_context().get_actor_id() is not None
