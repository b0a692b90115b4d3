"""The command line of ``residency guess``."""

import argparse
from pathlib import Path

from lanewright import cli_kinds
from lanewright.cli_image import AddCommand

# As ``residency.guess.guessers.GUESSERS``, which takes NumPy to import.
GUESSERS = (
    "control",
    "random",
    "previous-layer",
    "layer-table",
    "previous-step",
    "draft",
    "request",
    "global",
    "eam",
    "lru-cache",
    "hindsight-cache",
    "head",
)


def add_guess(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", command: AddCommand
) -> None:
    """Add ``residency guess``."""
    guess = command(
        actions,
        "guess",
        "hold guessers of the next experts against a recorded trace of picks",
        reads=True,
        of_lane=False,
        module="residency_guess",
    )
    guess.add_argument("trace_file", type=Path, metavar="TRACE", help="a trace, Parquet")
    guess.add_argument(
        "--guesser",
        dest="guessers",
        type=_guessers,
        metavar="NAME,..",
        help=f"which; by default all: {', '.join(GUESSERS)}",
    )
    guess.add_argument(
        "--hot", required=True, metavar="SPEC", help="what is resident, as moe_hot_experts has it"
    )
    guess.add_argument(
        "--row", required=True, metavar="SIZE", help="bytes of one expert, as in 17.92MiB"
    )
    guess.add_argument(
        "--phase",
        choices=("decode", "prefill"),
        default="decode",
        help="of the tokens that are guessed at; by default %(default)s, with those under verify",
    )
    guess.add_argument(
        "--learn",
        type=cli_kinds.share,
        metavar="SHARE",
        help="of the trace, in whole requests, that is learned from and not guessed at; by default 0.25",
    )
    guess.add_argument(
        "--drawn", action="store_true", help="draw these requests; else they are the first"
    )
    guess.add_argument(
        "--link",
        dest="links",
        type=cli_kinds.links,
        metavar="GB/s,..",
        help="of each link; by default 24,32,340",
    )
    guess.add_argument(
        "--step",
        type=cli_kinds.milliseconds,
        default=15.0,
        metavar="MS",
        help="that a forward computes; by default %(default)g, which is assumed",
    )
    guess.add_argument(
        "--attention",
        type=cli_kinds.share,
        default=0.5,
        metavar="SHARE",
        help="of a layer, in front of its router; by default %(default)g, which is assumed",
    )
    numbers = {
        "eams": (120, "EAMs that are kept"),
        "nearest": (1, "EAMs that a prediction sums"),
        "seed": (1, "of what is drawn, and of the trained head"),
    }
    for name, (default, text) in numbers.items():
        guess.add_argument(
            f"--{name}",
            type=cli_kinds.whole,
            default=default,
            metavar="N",
            help=f"{text}; by default {default}",
        )
    guess.add_argument(
        "--lane", metavar="LANE", help="whose Python fits the head; by default the default lane"
    )
    guess.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw recall over lead time, .png or .svg"
    )


def _guessers(text: str) -> list[str]:
    found = text.split(",")
    if unknown := [name for name in found if name not in GUESSERS]:
        raise argparse.ArgumentTypeError(
            f"there is no {unknown[0]!r}: there are {', '.join(GUESSERS)}"
        )
    return found
