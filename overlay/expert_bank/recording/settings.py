# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What is said of a run about recording: where to, how much, and what; of no hash of vLLM's."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from expert_bank.recording.stream import USUAL_BYTES
from expert_bank.refused import Refused
from expert_bank.sizes import parse_size

FEATURE = "moe_record_picks"
FOLDER = "EXPERT_BANK_RECORD"
SIZE = "EXPERT_BANK_RECORD_SIZE"
HIDDEN = "EXPERT_BANK_RECORD_HIDDEN"


@dataclass(frozen=True)
class RecordSettings:
    """How picks are recorded.

    Attributes:
        folder: Gets a file for each engine.
        most: Bytes that a file may have.
        hidden: Whether the residual stream is kept, too.
    """

    folder: Path
    most: int = USUAL_BYTES
    hidden: bool = False

    @classmethod
    def read(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """Read them.

        Raises:
            Refused: No folder is named, or one of them is none.
        """
        place = environ.get(FOLDER, "")
        if not Path(place).is_absolute():
            raise Refused(
                f"{FEATURE}: {FOLDER} is {place!r}, and must name a folder, from / on",
                hint=f"set it for the engine, or start without {FEATURE}",
            )
        size = environ.get(SIZE, "")
        most = parse_size(size) if size else USUAL_BYTES
        if not most:
            raise Refused(f"{SIZE} is {size!r}, and must be a size, as 1GiB")
        hidden = environ.get(HIDDEN, "")
        if hidden not in ("", "0", "1"):
            raise Refused(f"{HIDDEN} is {hidden!r}, and must be 1 or 0")
        return cls(Path(place), most, hidden == "1")
