"""The seams at which code of a pull request can take the place of our own."""

from typing import Literal, get_args

Seam = Literal["RowTable", "RowCopy", "HostRows", "PrefillStage", "PrefetchCopy"]
SEAMS: tuple[str, ...] = get_args(Seam)
OWN = "own"
