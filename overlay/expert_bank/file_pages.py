# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""One range of addresses: hot rows in locked memory, behind them cold rows of a file."""

from expert_bank.cold_file import ColdFile
from expert_bank.locking import lock
from expert_bank.pages import HostPages, page_bytes, whole_pages
from expert_bank.refused import Refused
from expert_bank.sizes import told


class FilePages(HostPages):
    """A mapping whose first ``held`` bytes are memory, and whose rest is a file's.

    Rows need not fill pages: the first hot one begins so far within the first page that the last
    hot one ends where a page does.

    Attributes:
        lead: Bytes before the first row.
    """

    def __init__(self, hot: int, cold: int, file: ColdFile) -> None:
        """Map both; nothing is locked yet.

        Args:
            hot: Bytes of all hot rows.
            cold: Bytes of all cold rows; one of the two is not 0.
            file: Where the cold ones go.

        Raises:
            Refused: The disk has no room, or the system does not map them.
        """
        held = whole_pages(hot, page_bytes())
        self.lead = held - hot
        super().__init__(held + cold, held)
        if cold:
            try:
                file.map(self.address + held, cold)
            except OSError as error:
                self.close()
                raise Refused(
                    f"{told(cold)} of a file in {file.folder} cannot be mapped: {error.strerror}",
                    hint="see `ulimit -v` and /proc/sys/vm/max_map_count",
                ) from None

    def lock(self) -> None:
        """Keep the hot rows in memory; they are there from here on.

        Raises:
            Refused: They cannot be.
        """
        lock(self.address, self.held)
