# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What staging has done."""

from dataclasses import dataclass


@dataclass
class Staged:
    """So far.

    Attributes:
        steps: That were staged.
        tokens: Scheduled in them.
        rows: That were copied, and read from the buffer.
        bytes: The same in bytes; counted once they are there.
        late: Rows of them that were not begun a layer ahead.
        failed: Layers whose rows did not come, and were read in place; the first one ends staging.
    """

    steps: int = 0
    tokens: int = 0
    rows: int = 0
    bytes: int = 0
    late: int = 0
    failed: int = 0
