# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Rows that must not leave memory: locked, or refused."""

from expert_bank import file_calls
from expert_bank.memlock import memlock
from expert_bank.refused import Refused
from expert_bank.sizes import told


def require_lockable(length: int) -> None:
    """Stand before a load whose hot rows are to be locked; nothing is locked yet.

    Whether a limit holds for this process is the kernel's to say: within a container a process may
    have the right to pass it and yet not be let.

    Args:
        length: Bytes.

    Raises:
        Refused: They cannot be.
    """
    if length:
        try:
            file_calls.try_lock(length)
        except OSError as error:
            raise _refused(length, error) from None


def lock(address: int, length: int) -> None:
    """Lock a range until it is unmapped.

    Args:
        address: Of the first byte.
        length: Bytes.

    Raises:
        Refused: It cannot be locked.
    """
    if length:
        try:
            file_calls.lock(address, length)
        except OSError as error:
            raise _refused(length, error) from None


def _refused(length: int, error: OSError) -> Refused:
    return memlock().refusal(length, "locked") or Refused(
        f"{told(length)} of hot rows cannot be locked in memory: {error.strerror}",
        hint="have fewer hot rows (moe_hot_experts), or use moe_cold_rows mirror, which locks none",
    )
