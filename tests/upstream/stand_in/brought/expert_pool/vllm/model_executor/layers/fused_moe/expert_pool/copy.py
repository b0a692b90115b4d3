# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Row copies by the name that #56177 gives them; written anew, for what can be indexed by rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from .tables import TENSORS

Rows = Mapping[str, Any]


def copy_rows(
    source: Rows,
    destination: Rows,
    src_rows: Sequence[int],
    dst_rows: Sequence[int],
    count: Sequence[int],
) -> None:
    """Copy the first pairs of rows of every tensor; how many is said by ``count[0]``."""
    for name in TENSORS:
        for pair in range(int(count[0])):
            destination[name][int(dst_rows[pair])] = source[name][int(src_rows[pair])]
