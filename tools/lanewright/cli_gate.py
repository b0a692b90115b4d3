"""The command line of ``residency gate``."""

import argparse
from pathlib import Path

from lanewright import cli_kinds
from lanewright.cli_image import AddCommand


def add_gate(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", command: AddCommand
) -> None:
    """Add ``residency gate``."""
    gate = command(
        actions,
        "gate",
        "tell whether prefetching is worth another look, by what was measured",
        reads=True,
        of_lane=False,
        module="residency_gate",
    )
    gate.add_argument(
        "--replay",
        dest="replay_file",
        type=Path,
        metavar="FILE",
        help="what residency replay --json printed",
    )
    gate.add_argument(
        "--guess",
        dest="guess_file",
        type=Path,
        metavar="FILE",
        help="what residency guess --json printed",
    )
    gate.add_argument(
        "--pull",
        dest="residency_pull",
        type=cli_kinds.whole,
        default=56177,
        metavar="N",
        help="the pull request that brings residency by expert; by default %(default)s",
    )
