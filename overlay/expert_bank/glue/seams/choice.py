# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The lane's choice at each seam of the two banks, looked up before anything is loaded."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from expert_bank.glue.seams import own
from expert_bank.glue.seams.kinds import MakeHostRows, MakeTable
from expert_bank.refused import Refused
from expert_bank.seams import (
    HOST_ROWS,
    OWN,
    ROW_COPY,
    ROW_TABLE,
    SEAMS,
    Chosen,
    Used,
    read_seams,
)
from expert_bank.swapping import Copy

# By seam the function of an adapter that serves it.
SERVES = {ROW_TABLE: "row_table", ROW_COPY: "row_copy", HOST_ROWS: "host_rows"}


@dataclass(frozen=True)
class Seams:
    """What serves the two banks.

    Attributes:
        row_table: Makes the table.
        row_copy: Copies a row of every tensor.
        host_rows: Makes what host memory comes from.
        used: Whose code each of them is.
    """

    row_table: MakeTable
    row_copy: Copy
    host_rows: MakeHostRows
    used: tuple[Used, ...]

    def line(self) -> str:
        """Tell people whose code serves each seam."""
        return ", ".join(
            f"{each.seam} {OWN if each.source == OWN else f'from #{each.source}'}"
            for each in self.used
        )


def choice(found: Mapping[str, Chosen] | None = None) -> Seams:
    """Look up what serves each seam.

    Args:
        found: Pull requests by seam; as the lane's tree says, unless given.

    Raises:
        Refused: The tree's file says nothing that can be; there is no adapter; or a module of the
            pull request is not as its adapter was written for.
    """
    named = read_seams() if found is None else found
    used = {seam: Used(seam, named[seam].source if seam in named else OWN) for seam in SEAMS}
    table, copy, rows = (_adapted(used[seam], named.get(seam)) for seam in SEAMS)
    return Seams(table, copy, rows, tuple(used.values()))


def _adapted(used: Used, chosen: Chosen | None) -> Any:  # noqa: ANN401 - of the seam's own kind
    module = own if chosen is None else _adapter(used, chosen)
    serves: Callable[[Used], Any] | None = getattr(module, SERVES[used.seam], None)
    if serves is None:
        raise _missing(used, f"the adapter of {module.__name__} serves no {used.seam}")
    return serves(used)


def _adapter(used: Used, chosen: Chosen) -> ModuleType:
    name = f"{__package__}.pr{chosen.adapter}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise _missing(used, f"there is no adapter {name}") from None


def _missing(used: Used, why: str) -> Refused:
    return Refused(
        f"{used.seam} from #{used.source}: {why}",
        hint=f"say whose adapter fits in patches/{used.source}/pr.toml, as `adapter`",
    )
