"""The command line: what can be typed, and which function answers."""

import argparse
import importlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol, cast

from lanewright import __version__
from lanewright.cli_image import add_image, joined
from lanewright.errors import ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.terminal import quoted

LAST_PORT = 65535
# Of a step; no engine's has more.
MOST_TOKENS = 2**24
# Between two frames of what is shown live, in seconds.
SHORTEST, LONGEST = 0.1, 3600.0
EXIT_CODES = """\
exit codes: 0 clean; 1 input or environment; 2 usage; 3 conflicts need a person; 4 drift found by
--check; 5 verification or equality mismatch; 6 the hardware a lane needs is not here; 70 bug;
130 interrupted
environment: LANEWRIGHT_STORE (cache folder), LANEWRIGHT_STATE (records), NO_COLOR,
LANEWRIGHT_TRACE (print each git call and its time)
"""


class Arguments(Protocol):
    """What every command gets; each reads its own options too."""

    directory: Path | None
    trace: bool
    lane: str | None
    json: bool
    format: str
    check: bool
    entry: str | None
    parts: list[str]
    path: str
    update: bool
    allow: list[str]
    landed: bool
    done: bool
    again: bool
    to: str | None
    keep_going: bool
    bundle: Path | None
    wheel: Path | None
    port: int | None
    no_server: bool
    in_image: bool
    equal: bool
    mode: str | None
    resume: bool
    server_port: int
    out: Path | None
    usage_map: Path
    stats_file: Path | None
    once: bool
    interval: float
    hot: str | None
    stage: str | None
    cold_share: float | None
    graph_tokens: int | None
    step_tokens: int | None
    verify_lock: bool
    verify_tree: bool
    verify_image: bool
    base: str | None
    backend: str
    archive: Path | None
    archive_format: str
    image: str | None
    engine: str | None
    optional: bool
    every: bool
    run: str
    env: bool
    anywhere: bool
    command: Callable[[Project | None, Places, "Arguments"], ExitCode]


def lane_of(project: Project, arguments: Arguments) -> str:
    """The lane named on the command line, else the project's default."""
    return arguments.lane or project.upstream.default_lane


def parse(arguments: list[str]) -> Arguments:
    """Read a command line; ends the process with code 2 where it cannot be read."""
    parser = argparse.ArgumentParser(
        prog="lanewright",
        description="Keeps serving lanes alive on a moving vLLM.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"lanewright {__version__}")
    parser.add_argument("-C", dest="directory", type=Path, metavar="DIR", help="project folder")
    parser.add_argument("--trace", action="store_true", help="print each git call and its time")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    fetch = _command(commands, "fetch", "bring the sources a lane needs into the store")
    fetch.add_argument(
        "--wheel", type=Path, metavar="FILE", help="take this release wheel, without network"
    )
    fetch.add_argument(
        "--bundle", type=Path, metavar="FILE", help="take what `export` wrote, without network"
    )
    _add_queue(commands)
    build = _command(commands, "build", "apply a lane's series and write its lock")
    build.add_argument("--check", action="store_true", help="write nothing; exit 4 on drift")
    report = _command(commands, "report", "say what becomes of every hunk, and why", reads=True)
    report.add_argument(
        "--to", metavar="REF", help="tell of another pin: version, tag, branch, commit, nightly"
    )
    report.add_argument(
        "--format", choices=("text", "json", "markdown", "github"), default="text", help="its form"
    )
    verify = _command(commands, "verify", "prove that lock, tree and image are what they claim")
    verify.add_argument(
        "--lock", dest="verify_lock", action="store_true", help="rebuild and compare"
    )
    verify.add_argument("--tree", dest="verify_tree", action="store_true", help="compare the disk")
    verify.add_argument(
        "--bundle", type=Path, metavar="FILE", help="rebuild from a bundle alone and compare"
    )
    verify.add_argument(
        "--image", dest="verify_image", action="store_true", help="compare the layout and its layer"
    )
    listing = _command(commands, "list", "list lanes, or what a lane carries", reads=True)
    listing.add_argument("entry", nargs="?", metavar="ENTRY", help="name all that is taken of it")
    _command(commands, "status", "say whether locks, store and trees are up to date", reads=True)
    show = _command(
        commands, "show", "print the hunks of an entry, or of a pull request to add", reads=True
    )
    show.add_argument("entry", nargs="?", metavar="ENTRY[:PATH[:HUNK]]")
    blame = _command(
        commands, "blame", "say which entry each line of a built file comes from", reads=True
    )
    blame.add_argument("path", metavar="PATH", help="a file of the lane's tree")
    bisect = _command(
        commands, "bisect", "find the hunks of a lane that make a command fail", reads=True
    )
    bisect.add_argument(
        "--run",
        metavar="CMD",
        required=True,
        help="a line for sh: exit status 0 good, 125 untestable, else up to 127 bad",
    )
    bisect.add_argument(
        "--env", action="store_true", help="give CMD what `env` prints of the lane, too"
    )
    add_image(commands, _command)
    boot = _command(commands, "boot", "boot a lane, greet it, and keep a record")
    boot.add_argument("--port", type=_port, help="port of the server; by default a free one")
    boot.add_argument("--no-server", action="store_true", help="only the offline engine")
    boot.add_argument("--equal", action="store_true", help="compare with the unpatched pin, too")
    equal = _command(commands, "equal", "prove that a lane answers as its unpatched pin does")
    equal.add_argument(
        "--mode", choices=("eager", "compiled"), help="by default all that the lane is compared in"
    )
    for command in (boot, equal):
        command.add_argument(
            "--resume",
            action="store_true",
            help="take the arms of the comparison that an interrupted run has finished",
        )
        command.add_argument(
            "--in-image",
            action="store_true",
            help="in containers of the lane's image and of its base, as lanes on a GPU always are",
        )
    _command(commands, "env", "print the environment of a lane, for a shell to eval")
    usage = _command(commands, "usage", "read a running server's counts of picks", reads=True)
    usage.add_argument(
        "--port",
        dest="server_port",
        type=_port,
        default=8000,
        help="port of the server; by default %(default)s",
    )
    usage.add_argument("--out", type=Path, metavar="FILE", help="write the usage map, Parquet")
    _add_residency(commands)
    found = parser.parse_args(joined(arguments))
    _check_together(parser, found)
    return cast("Arguments", found)


def _check_together(parser: argparse.ArgumentParser, found: argparse.Namespace) -> None:
    """End the process where one argument does not go with another."""
    if getattr(found, "stray", None):
        parser.error(f"`rebase` takes its lane behind --lane: --lane {quoted(found.stray)}")
    if getattr(found, "resume", False) and not getattr(found, "equal", True):
        parser.error("`boot --resume` goes on with a comparison: boot --equal --resume")
    if getattr(found, "every", False) and (found.lane or found.base):
        parser.error("`image mirror --every` is of all lanes: without LANE and --base")


def _add_queue(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The commands that edit a series, or the fixes of its entries."""
    add = _command(commands, "add", "carry a pull request, a file or a hunk of it", of_lane=False)
    add.add_argument("parts", nargs="+", metavar="NUMBER[:PATH[:HUNK]]")
    add.add_argument("--update", action="store_true", help="move it to its newest head")
    add.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="RULE:PATH",
        help="let it break a rule in a file, such as bidi:vllm/a.py; may be given several times",
    )
    drop = _command(commands, "drop", "carry an entry or a part of it no more", of_lane=False)
    drop.add_argument("parts", nargs="+", metavar="ENTRY[:PATH[:HUNK]]")
    drop.add_argument(
        "--landed", action="store_true", help="record that upstream has the hunk, with edits"
    )
    resolve = _command(commands, "resolve", "settle an entry's conflicts by hand", of_lane=False)
    resolve.add_argument("entry", nargs="?", metavar="ENTRY")
    resolve.add_argument("--done", action="store_true", help="record what you made of them")
    resolve.add_argument(
        "--again", action="store_true", help="start over; edits there are thrown away"
    )
    rebase = _command(commands, "rebase", "take lanes to where upstream is now", of_lane=False)
    rebase.add_argument("stray", nargs="?", help=argparse.SUPPRESS)
    rebase.add_argument("--check", action="store_true", help="write nothing; exit 4 on drift")
    rebase.add_argument(
        "--keep-going", action="store_true", help="go without the entries that conflict"
    )
    for command in (resolve, rebase):
        command.add_argument(
            "--to", metavar="REF", help="version, tag, branch, commit, nightly or serving"
        )
    for command in (add, drop, resolve, rebase):
        command.add_argument("--lane", metavar="LANE", help="the lane, where it is not the default")
    _command(commands, "undo", "take back the last edit of the project", of_lane=False)
    export = _command(commands, "export", "write what a lane is made of, to keep or to leave with")
    export.add_argument(
        "--out", type=Path, metavar="DIR", required=True, help="a new folder for bundle and series"
    )


def _add_residency(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The commands about which experts are hot."""
    text = "plan which experts are hot"
    residency = commands.add_parser("residency", help=text, description=text)
    actions = residency.add_subparsers(metavar="ACTION", required=True)
    usage_map = _command(
        actions,
        "map",
        "turn a usage map into the file that boots a lane's hot experts",
        reads=True,
        of_lane=False,
        module="residency_map",
    )
    usage_map.add_argument("usage_map", type=Path, metavar="USAGE", help="a usage map, Parquet")
    usage_map.add_argument("--out", type=Path, metavar="FILE", help="write the file, JSON")
    _add_plan(actions)
    top = _command(
        actions,
        "top",
        "show how a running server's map of experts does, layer by layer",
        reads=True,
        of_lane=False,
        module="residency_top",
    )
    whence = top.add_mutually_exclusive_group()
    whence.add_argument(
        "--file",
        dest="stats_file",
        type=_named_path,
        metavar="PATH",
        help="its EXPERT_BANK_STATS, file or folder",
    )
    whence.add_argument(
        "--port",
        dest="server_port",
        type=_port,
        default=8000,
        help="port of the server; by default %(default)s",
    )
    top.add_argument("--once", action="store_true", help="one frame, and end")
    top.add_argument(
        "--interval",
        type=_interval,
        default=2.0,
        metavar="SECONDS",
        help="between two frames; by default %(default)s",
    )


def _add_plan(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The dry run of two banks."""
    plan = _command(
        actions,
        "plan",
        "tell what a lane's two banks take of a machine, without it",
        reads=True,
        module="residency_plan",
    )
    texts = {
        "device": "device memory, as in 250.7GiB",
        "host": "host memory",
        "other": "weights on the device that are no experts",
        "pinned": "host memory that others pin",
        "page": "a page of host memory, as in 64KiB",
        "kv-pool": "size of the KV cache as it is served today",
        "hot": "hot experts, as moe_hot_experts has them",
        "stage": "the staging buffer, as moe_prefill_stage has it",
    }
    for name, text in texts.items():
        kind = "SIZE" if name not in ("hot", "stage") else "SPEC"
        plan.add_argument(f"--{name}", metavar=kind, help=f"{text}; before what the series says")
    numbers = {
        "link": ("GB/s", "at which the device reads host memory in place"),
        "kv-tokens": ("TOKENS", "of KV cache in a GiB"),
    }
    for name, (kind, text) in numbers.items():
        plan.add_argument(f"--{name}", type=_above, metavar=kind, help=text)
    plan.add_argument(
        "--cold-share",
        type=_share,
        metavar="SHARE",
        help="of the picks that are cold, as in 0.027; tells the smallest staged step for it, too",
    )
    steps = {
        "--graph-tokens": ("graph_tokens", 0, "up to which a step is replayed from a graph"),
        "--max-num-batched-tokens": ("step_tokens", 1, "that a step has at most, as in [engine]"),
    }
    for name, (place, least, text) in steps.items():
        read = partial(_tokens, least)
        plan.add_argument(name, dest=place, type=read, metavar="TOKENS", help=text)


def _tokens(least: int, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
    if not least <= number <= MOST_TOKENS:
        raise argparse.ArgumentTypeError(f"{number} is not from {least} to {MOST_TOKENS}")
    return number


def _above(text: str) -> float:
    number = _number(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None


def _share(text: str) -> float:
    number = _number(text)
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text} is no share: from 0 to 1")
    return number


def _port(text: str) -> int:
    number = int(text)
    if not 0 < number <= LAST_PORT:
        raise argparse.ArgumentTypeError(f"{number} is no port")
    return number


def _named_path(text: str) -> Path:
    # An unset variable; as a path it would be the folder that one is in.
    if not text:
        raise argparse.ArgumentTypeError(
            "it is empty: is EXPERT_BANK_STATS set in this shell? --port asks the server itself"
        )
    return Path(text)


def _interval(text: str) -> float:
    seconds = _number(text)
    if not SHORTEST <= seconds <= LONGEST:
        raise argparse.ArgumentTypeError(f"{text} is not from {SHORTEST} to {LONGEST} seconds")
    return seconds


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    text: str,
    *,
    reads: bool = False,
    of_lane: bool = True,
    module: str | None = None,
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=text)
    if of_lane:
        parser.add_argument("lane", nargs="?", metavar="LANE")
    # Here too, so that it may follow the command; absent, the value before it stays.
    parser.add_argument(
        "--trace", action="store_true", default=argparse.SUPPRESS, help="print each git call"
    )
    if reads:
        parser.add_argument("--json", action="store_true", help="data instead of text")

    def command(project: Project | None, places: Places, arguments: Arguments) -> ExitCode:
        answering = importlib.import_module(f"lanewright.commands.{module or name}")
        return cast("ExitCode", answering.run(project, places, arguments))

    parser.set_defaults(command=command, anywhere=False)
    return parser
