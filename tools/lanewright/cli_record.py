"""The command line of ``residency record``."""

import argparse
from pathlib import Path

from lanewright import cli_kinds
from lanewright.cli_image import AddCommand


def add_record(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", command: AddCommand
) -> None:
    """Add ``residency record``."""
    record = command(
        actions,
        "record",
        "serve a lane, and write which experts every token picked as a trace",
        module="residency_record",
    )
    record.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="the trace, Parquet"
    )
    what = record.add_mutually_exclusive_group()
    what.add_argument(
        "--requests", type=Path, metavar="FILE", help="what is asked, a line of JSON each"
    )
    what.add_argument(
        "--text",
        dest="texts",
        action="append",
        type=cli_kinds.held_out,
        metavar="KIND[:FROM-TO]",
        help="what the lane's trained model held out, as python:0.5-0.75; may be repeated",
    )
    record.add_argument(
        "--count",
        dest="requests_of_each",
        type=cli_kinds.whole,
        default=64,
        metavar="N",
        help="requests of each text; by default %(default)s",
    )
    record.add_argument(
        "--at-once",
        type=cli_kinds.whole,
        default=16,
        metavar="N",
        help="requests that are asked together; by default %(default)s",
    )
    record.add_argument(
        "--seed", type=cli_kinds.whole, default=1, metavar="N", help="of the sampling of --text"
    )
    record.add_argument(
        "--hidden",
        action="store_true",
        help="keep the residual stream before each layer, too; in an eager engine",
    )
    record.add_argument(
        "--size",
        default="4GiB",
        metavar="SIZE",
        help="that what the engine writes may have; by default %(default)s",
    )
    record.add_argument(
        "--in-image", action="store_true", help="run it in the lane's image, as on a GPU"
    )
