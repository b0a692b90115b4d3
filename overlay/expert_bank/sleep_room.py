# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Whether host memory has room for what an engine keeps there while it sleeps."""

from collections.abc import Iterable

from expert_bank.host_budget import HostBudget
from expert_bank.refused import Refused
from expert_bank.sizes import told


def pinned_bytes(sizes: Iterable[int]) -> int:
    """Sum what torch's pinned allocator takes for blocks of so many bytes: powers of two."""
    return sum(1 << (size - 1).bit_length() for size in sizes if size > 0)


def require_room(kept: int, backed_up: int, budget: HostBudget, *, hint: str) -> None:
    """Refuse to sleep where host memory has no room for it.

    Args:
        kept: Bytes that are kept for the two banks.
        backed_up: Bytes that vLLM backs up itself.
        budget: What host memory has left.
        hint: What else to do.

    Raises:
        Refused: With the arithmetic.
    """
    if kept + backed_up <= budget.left:
        return
    raise Refused(
        f"sleep: {told(kept + backed_up)} of host memory are needed ({told(kept)} of weights that are"
        f" no mirrored rows, {told(backed_up)} that vLLM backs up), and {told(max(0, budget.left))}"
        " are left; nothing was discarded\n" + "\n".join(budget.lines()),
        hint=hint,
    )
