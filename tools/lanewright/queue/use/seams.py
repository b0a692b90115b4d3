"""The seams at which code of a pull request can take the place of our own."""

from typing import Literal, get_args

Seam = Literal["RowTable", "RowCopy", "HostRows", "PrefillStage", "PrefetchCopy"]
SEAMS: tuple[str, ...] = get_args(Seam)
OWN = "own"
# Those that the two banks of our overlay have adapters for.
BANK_SEAMS: tuple[str, ...] = ("RowTable", "RowCopy", "HostRows")
OVERLAY = "expert_bank"
# Says to a worker what a series' [seams] say; laid with our overlay.
SEAMS_FILE = f"{OVERLAY}/seams.json"
# Adapters use a pull request only where a seam names it.
ADAPTERS = f"{OVERLAY}/glue/seams/"
