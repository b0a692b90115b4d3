"""The command line of ``residency trace``."""

import argparse
from pathlib import Path

from lanewright import cli_kinds
from lanewright.cli_image import AddCommand

# As ``residency.trace_file.imported.forms.FORMS``, which takes NumPy to import.
FORMS = ("engine", "arrays", "layers", "rows")


def add_trace(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", command: AddCommand
) -> None:
    """Add ``residency trace import``, ``show`` and ``check``."""
    text = "make a trace of files in another form, tell one, or check it"
    trace = actions.add_parser("trace", help=text, description=text, allow_abbrev=False)
    acts = trace.add_subparsers(metavar="ACTION", required=True)
    taken = command(
        acts,
        "import",
        "make a trace of what an engine wrote, or of files in a public form",
        of_lane=False,
        module="residency_trace_import",
    )
    taken.add_argument("files", type=Path, nargs="+", metavar="FILE", help="in order")
    taken.add_argument(
        "--out", type=Path, required=True, metavar="TRACE", help="the trace, Parquet"
    )
    taken.add_argument("--form", choices=FORMS, help="of the files; by default their names tell")
    taken.add_argument("--model", default="", metavar="HASH", help="of what was served")
    taken.add_argument(
        "--experts",
        type=cli_kinds.whole,
        default=0,
        metavar="N",
        help="of a layer; by default the highest id and one",
    )
    taken.add_argument(
        "--prompt",
        dest="prompts",
        type=cli_kinds.wholes,
        default=(),
        metavar="N,..",
        help="tokens of each request's prompt, or of all; by default requests are all prompt",
    )
    taken.add_argument(
        "--length",
        type=cli_kinds.many,
        default=0,
        metavar="N",
        help="tokens of a request, for a form that has none",
    )
    show = command(
        acts,
        "show",
        "tell what a trace has",
        reads=True,
        of_lane=False,
        module="residency_trace_show",
    )
    show.add_argument("trace_file", type=Path, metavar="TRACE", help="a trace, Parquet")
    check = command(
        acts,
        "check",
        "hold a trace against a usage map and against the requests' own outputs, to the pick",
        reads=True,
        of_lane=False,
        module="residency_trace_check",
    )
    check.add_argument("trace_file", type=Path, metavar="TRACE", help="a trace, Parquet")
    check.add_argument(
        "--usage", dest="checked_usage", type=Path, metavar="USAGE", help="of the same traffic"
    )
    check.add_argument(
        "--scheduled",
        type=cli_kinds.many,
        metavar="N",
        help="tokens that were scheduled, by the requests' own outputs: prompt + output - 1 - cached",
    )
