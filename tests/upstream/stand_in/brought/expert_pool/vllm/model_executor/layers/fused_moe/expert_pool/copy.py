# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Row copies; source and target are tensors, arrays or lists whose first dimension is rows."""

from collections.abc import Iterable, Sequence
from typing import Any

from .pool import Copy


def copy_rows(host: Sequence[Any], slots: Any, copies: Iterable[Copy]) -> int:  # noqa: ANN401
    """Copy each planned row from its layer's host rows into its slot; gives their number."""
    planned = list(copies)
    for each in planned:
        slots[each.slot] = host[each.layer][each.expert]
    return len(planned)
