# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Lets a mapping's pages come from one NUMA node, before any was touched."""

import errno
from pathlib import Path

from expert_bank import system_calls
from expert_bank.proc import text_of
from expert_bank.refused import Refused
from expert_bank.sizes import told


def bind(address: int, length: int, node: int, *, root: Path = Path("/")) -> None:
    """Bind a range to a node; pages come from there or not at all.

    Args:
        address: Of the first byte, page-aligned.
        length: Bytes, in whole pages.
        node: The node's number.
        root: Where ``proc`` is, to tell which nodes are allowed.

    Raises:
        Refused: The kernel, a container's rules or the cpuset stand against it, or a page was
            touched before and lies on another node.
    """
    try:
        system_calls.mbind(address, length, node)
    except OSError as error:
        wish = f"{told(length)} of host memory cannot be bound to node {node}"
        raise _refused(wish, error, root) from None


def _refused(wish: str, error: OSError, root: Path) -> Refused:
    """Say why, and what to change."""
    if error.errno == errno.EPERM:
        return Refused(
            f"{wish}: mbind is not permitted, as by a container's default seccomp rules",
            hint="start the container with --cap-add SYS_NICE",
        )
    if error.errno == errno.EIO:
        return Refused(f"{wish}: pages of it were touched before and lie on another node")
    if error.errno == errno.EINVAL:
        status = text_of(root / "proc/self/status") or ""
        named = [line for line in status.splitlines() if line.startswith("Mems_allowed_list:")]
        return Refused(
            f"{wish}: no such node, or it is not allowed here ({' '.join(named) or 'unknown'})",
            hint="see the container's --cpuset-mems",
        )
    return Refused(f"{wish}: {error.strerror}")
