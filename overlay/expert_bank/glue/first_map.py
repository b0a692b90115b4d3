# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Which experts of each layer are hot at first, as the configuration has it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from expert_bank.boot_map import EMPTY, FIRST, USAGE, boot_map
from expert_bank.config import BankConfig
from expert_bank.plan import mirrored
from expert_bank.refused import Refused
from expert_bank.usage_file import read_usage_file


def first_map(
    config: BankConfig,
    layers: Mapping[str, int],
    hot: Sequence[int],
    served: str,
    tell: Callable[[str], None],
) -> list[list[int]]:
    """Choose them.

    Args:
        config: What is asked for.
        layers: E of each layer by name, in load order.
        hot: H of each.
        served: Name or folder of the model that is served.
        tell: Called with a line for people where a usage file does not say whose it is.

    Returns:
        As ``boot_map``.

    Raises:
        Refused: The usage file is no such file, or of another model; or none is to be hot, and the
            cold bank has not every expert.
    """
    kind, counts = config.boot_map, None
    if kind not in (FIRST, EMPTY):
        found = read_usage_file(Path(kind), layers, served=served)
        kind, counts = USAGE, found.counts
        if found.whose:
            tell(found.whose)
    if kind == EMPTY and not mirrored(config.cold_rows):
        raise Refused(
            "an empty boot map needs every expert's row in the cold bank",
            hint="use moe_cold_rows mirror, or another moe_boot_map",
        )
    return boot_map(kind, hot=hot, experts=[*layers.values()], usage=counts)
