# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Host rows that a device reads in place: their layout, without any copy of them."""

from dataclasses import dataclass

ALIGNMENT = 256


@dataclass(frozen=True)
class UvaBank:
    """A block of equal rows in host memory.

    Attributes:
        rows: How many rows.
        row_bytes: Bytes of one row, without padding.
    """

    rows: int
    row_bytes: int

    @property
    def stride(self) -> int:
        """Bytes from one row to the next."""
        return -(-self.row_bytes // ALIGNMENT) * ALIGNMENT

    @property
    def nbytes(self) -> int:
        """Bytes of the block: exact, not rounded up to a power of two."""
        return self.rows * self.stride

    def offset(self, row: int) -> int:
        """Where a row begins.

        Raises:
            IndexError: There is no such row.
        """
        if not 0 <= row < self.rows:
            raise IndexError(f"row {row} of {self.rows}")
        return row * self.stride
