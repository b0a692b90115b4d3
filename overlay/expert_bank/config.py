# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""How a worker's experts are to be kept: what the engine's configuration says."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from expert_bank.cold_folder import FOLDER, USUAL
from expert_bank.pace import Pace
from expert_bank.plan import Mode
from expert_bank.refused import Refused
from expert_bank.stats_folder import file_of

HOT, STAGE, FOLLOW_EAMS = "moe_hot_experts", "moe_prefill_stage", "moe_follow_eams"
# A query of so many takes milliseconds, in front of a forward.
MOST_EAMS = 10_000
# Of the run, not of the model: they enter no hash of vLLM's.
POISON = "EXPERT_BANK_POISON"
READ_FLOOR = "EXPERT_BANK_READ_FLOOR"
NODE = "EXPERT_BANK_NODE"
STATS = "EXPERT_BANK_STATS"
# Names the server whose processes these are, so that none shows the numbers of another's worker.
SERVER = "EXPERT_BANK_SERVER"
_NODE = re.compile(r"[0-9]{1,4}", re.ASCII)


@dataclass(frozen=True)
class BankConfig:
    """Fields of vLLM's ``OffloadConfig`` that our hook patch adds, and what is said of this run.

    Attributes:
        hot_experts: As ``expert_bank.hot`` reads it; empty where all experts stay resident.
        cold_rows: See ``expert_bank.bank``.
        boot_map: ``first``, ``empty``, or a usage file.
        poison: Whether whatever no entry points to is made NaN.
        read_floor: GB/s that host memory must be read at; 0 for none, None for the machine's own.
        node: Number of the NUMA node that host memory is bound to; None for the one that has most
            of this process's CPUs.
        follow: How the map follows traffic; None where it stands still.
        follow_eams: How many requests are kept that those that run are held against; 0 where a map
            follows what was picked.
        prefill_stage: As ``staging.room`` reads it; empty where cold rows are always read in place.
        folder: Where the file of cold rows goes, if they are in one.
        stats: File that tells how the map does, replaced as it goes; None for none.
    """

    hot_experts: str
    cold_rows: Mode
    boot_map: str
    poison: bool
    read_floor: float | None
    node: int | None
    follow: Pace | None = None
    follow_eams: int = 0
    prefill_stage: str = ""
    folder: Path = USUAL
    stats: Path | None = None

    @classmethod
    def read(cls, offload_config: Any, environ: Mapping[str, str] = os.environ) -> Self:  # noqa: ANN401 - vLLM's
        """Read it; a vLLM without our hook patches has the two-bank off.

        Raises:
            Refused: Something of it is none, or says nothing beside the rest.
        """
        hot = getattr(offload_config, HOT, "")
        eams = getattr(offload_config, FOLLOW_EAMS, 0)
        for name, asked, what in (
            (STAGE, getattr(offload_config, STAGE, ""), "no cold row can be staged"),
            (FOLLOW_EAMS, eams, "no map can follow anything"),
        ):
            if asked and not hot:
                raise Refused(
                    f"{name}: {what} while all experts are resident",
                    hint=f"set {HOT}, or take {name} out",
                )
        if not 0 <= eams <= MOST_EAMS:
            raise Refused(f"{FOLLOW_EAMS} is {eams}, and must be 0 to {MOST_EAMS}")
        return cls(
            hot_experts=hot,
            cold_rows=getattr(offload_config, "moe_cold_rows", "mirror"),
            boot_map=getattr(offload_config, "moe_boot_map", "first"),
            poison=_switch(environ, POISON),
            read_floor=_speed(environ, READ_FLOOR),
            node=_node(environ, NODE),
            follow=Pace.read(getattr(offload_config, "moe_follow", "")),
            follow_eams=eams,
            prefill_stage=getattr(offload_config, STAGE, ""),
            folder=Path(environ.get(FOLDER) or USUAL),
            stats=stats_place(environ),
        )

    @property
    def on(self) -> bool:
        """Tell whether there are two banks at all."""
        return bool(self.hot_experts)


def stats_place(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Read where this server's stats file is: the one that is named, or its own in a folder that is.

    None where there is none.

    Raises:
        Refused: The path is relative: the processes of one server need not stand in one folder.
    """
    text = environ.get(STATS, "")
    if text and not Path(text).is_absolute():
        raise Refused(f"{STATS} is {text!r}, and must be a whole path, from / on")
    if not text:
        return None
    place = Path(text)
    return file_of(place, environ.get(SERVER) or str(os.getpid())) if place.is_dir() else place


def _switch(environ: Mapping[str, str], name: str) -> bool:
    text = environ.get(name, "")
    if text not in ("", "0", "1"):
        raise Refused(f"{name} is {text!r}, and must be 1 or 0")
    return text == "1"


def _speed(environ: Mapping[str, str], name: str) -> float | None:
    text = environ.get(name, "")
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise Refused(f"{name} is {text!r}, and must be GB/s, or 0 for no floor")
    return number


def _node(environ: Mapping[str, str], name: str) -> int | None:
    text = environ.get(name, "")
    if text and not _NODE.fullmatch(text):
        raise Refused(
            f"{name} is {text!r}, and must be a node's number, as in `numactl --hardware`"
        )
    return int(text) if text else None
