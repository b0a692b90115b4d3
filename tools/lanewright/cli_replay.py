"""The command line of ``residency replay``."""

import argparse
from pathlib import Path

from lanewright import cli_kinds
from lanewright.cli_image import AddCommand

# As ``residency.compared.policies.POLICIES``, which takes NumPy to import.
POLICIES = (
    "null",
    "fixed",
    "following",
    "following-eams",
    "oracle",
    "lru",
    "lfu",
    "lfru",
    "belady",
    "infinity-paper",
    "infinity-code",
)


def add_replay(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", command: AddCommand
) -> None:
    """Add ``residency replay``."""
    replay = command(
        actions,
        "replay",
        "compare policies on a recorded trace of picks",
        reads=True,
        of_lane=False,
        module="residency_replay",
    )
    replay.add_argument("trace_file", type=Path, metavar="TRACE", help="a trace, Parquet")
    replay.add_argument(
        "--policy",
        dest="policies",
        type=_policies,
        metavar="NAME,..",
        help=f"which; by default all: {', '.join(POLICIES)}",
    )
    replay.add_argument(
        "--hot", required=True, metavar="SPEC", help="hot experts, as moe_hot_experts has them"
    )
    replay.add_argument(
        "--row", required=True, metavar="SIZE", help="bytes of one expert, as in 17.92MiB"
    )
    start = replay.add_mutually_exclusive_group()
    start.add_argument(
        "--boot", type=Path, metavar="USAGE", help="a usage map, which the map at the start is of"
    )
    start.add_argument(
        "--learn",
        type=cli_kinds.share,
        metavar="SHARE",
        help="of the trace, which the map at the start is of, and which is not replayed; by default 0.25",
    )
    replay.add_argument(
        "--link",
        dest="links",
        type=cli_kinds.links,
        metavar="GB/s,..",
        help="of each link; by default 24,32,340",
    )
    replay.add_argument(
        "--step",
        type=cli_kinds.milliseconds,
        default=15.0,
        metavar="MS",
        help="that a forward computes; by default %(default)g, which is assumed",
    )
    replay.add_argument(
        "--buffer", metavar="SIZE", help="MoE-Infinity's buffer; by default all hot rows"
    )
    numbers = {
        "eams": (
            120,
            "that MoE-Infinity keeps of prefill, and of decode; and following-eams of prompts",
        ),
        "nearest": (1, "EAMs that a prediction sums"),
        "ahead": (1, "prefetches on the link at once, at most"),
    }
    for name, (default, text) in numbers.items():
        replay.add_argument(
            f"--{name}",
            type=cli_kinds.whole,
            default=default,
            metavar="N",
            help=f"{text}; by default {default}",
        )
    replay.add_argument("--plot", type=Path, metavar="FILE", help="draw it, .png or .svg")
    replay.add_argument(
        "--by-token", action="store_true", help="tell it by a token's place in its request, too"
    )


def _policies(text: str) -> list[str]:
    found = text.split(",")
    if unknown := [name for name in found if name not in POLICIES]:
        raise argparse.ArgumentTypeError(
            f"there is no {unknown[0]!r}: there are {', '.join(POLICIES)}"
        )
    return found
