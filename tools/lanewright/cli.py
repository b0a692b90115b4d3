"""The command line: what can be typed, and which function answers."""

import argparse
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, cast

from lanewright import __version__, cli_kinds
from lanewright.cli_image import add_image, joined, refused
from lanewright.cli_residency import add_residency
from lanewright.errors import ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.terminal import quoted

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
    lanes: list[str]
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
    boots: int | None
    resume: bool
    restore: bool
    server_port: int
    out: Path | None
    usage_map: Path
    trace_file: Path
    requests: Path | None
    texts: list[tuple[str, float, float]] | None
    requests_of_each: int
    at_once: int
    seed: int
    hidden: bool
    size: str
    policies: list[str] | None
    row: str
    boot: Path | None
    learn: float | None
    links: list[float] | None
    step: float
    buffer: str | None
    eams: int
    nearest: int
    ahead: int
    by_token: bool
    guessers: list[str] | None
    phase: str
    drawn: bool
    attention: float
    plot: Path | None
    stats_file: Path | None
    once: bool
    interval: float
    hot: str | None
    stage: str | None
    cold_share: float | None
    graph_tokens: int | None
    step_tokens: int | None
    checkpoint: Path | None
    machine_file: Path | None
    figures: Path | None
    plots: Path | None
    replay_file: Path | None
    guess_file: Path | None
    residency_pull: int
    files: list[Path]
    form: str | None
    model: str
    experts: int
    prompts: tuple[int, ...]
    length: int
    checked_usage: Path | None
    scheduled: int | None
    users: list[int] | None
    tokens: float | None
    overlap: float
    skew: float
    slots: int
    budget: str | None
    verify_lock: bool
    verify_tree: bool
    verify_image: bool
    base: str | None
    backend: str
    archive: Path | None
    archive_format: str | None
    image: str | None
    engine: str | None
    optional: bool
    every: bool
    nights: int | None
    runs: bool
    prune: int | None
    run: str
    of: str
    comment: bool
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
        # A script's `--chec` would be read here, and not by what calls this.
        allow_abbrev=False,
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
    _add_bisect(commands)
    add_image(commands, _command)
    _add_running(commands)
    _command(commands, "env", "print the environment of a lane, for a shell to eval")
    usage = _command(commands, "usage", "read a running server's counts of picks", reads=True)
    usage.add_argument(
        "--port",
        dest="server_port",
        type=cli_kinds.port,
        default=8000,
        help="port of the server; by default %(default)s",
    )
    usage.add_argument("--out", type=Path, metavar="FILE", help="write the usage map, Parquet")
    _add_history(commands)
    add_residency(commands, _command)
    found = parser.parse_args(joined(arguments))
    if getattr(found, "stray", None):
        parser.error(f"`rebase` takes its lane behind --lane: --lane {quoted(found.stray)}")
    if getattr(found, "env", False) and not found.run:
        parser.error("`bisect --env` is for the command behind --run")
    if getattr(found, "resume", False) and not getattr(found, "equal", True):
        parser.error("`boot --resume` goes on with a comparison: boot --equal --resume")
    if getattr(found, "prune", None) and (found.lane or found.nights or found.runs):
        parser.error("`history --prune` is of all lanes: without LANE, --nights and --runs")
    if getattr(found, "comment", False) and (found.json or found.out):
        parser.error("`bundle --comment` writes no archive: without --out and --json")
    if told := refused(found):
        parser.error(told)
    return cast("Arguments", found)


def _add_bisect(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The search for what is to blame."""
    bisect = _command(
        commands, "bisect", "find the hunks of a lane that make a command fail", reads=True
    )
    judge = bisect.add_mutually_exclusive_group(required=True)
    judge.add_argument(
        "--run",
        metavar="CMD",
        help="a line for sh: exit status 0 good, 125 untestable, else up to 127 bad",
    )
    judge.add_argument(
        "--equal",
        action="store_true",
        help="what failed in the newest comparison: an answer that differs, or a proof",
    )
    bisect.add_argument(
        "--env", action="store_true", help="give CMD what `env` prints of the lane, too"
    )


def _add_running(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The commands that boot a lane."""
    boot = _command(commands, "boot", "boot a lane, greet it, and keep a record")
    boot.add_argument(
        "--port", type=cli_kinds.port, help="port of the server; by default a free one"
    )
    boot.add_argument("--no-server", action="store_true", help="only the offline engine")
    boot.add_argument("--equal", action="store_true", help="compare with the unpatched pin, too")
    equal = _command(commands, "equal", "prove that a lane answers as its unpatched pin does")
    equal.add_argument(
        "--mode", choices=("eager", "compiled"), help="by default all that the lane is compared in"
    )
    equal.add_argument(
        "--boots",
        type=cli_kinds.boots,
        metavar="N",
        help="load the model N times at most, 2 at least, and switch features while it runs",
    )
    nightly = _command(
        commands,
        "nightly",
        "try lanes as a night does: drift, report, build, image, boot, comparison",
        reads=True,
        of_lane=False,
    )
    nightly.add_argument(
        "lanes",
        nargs="*",
        metavar="LANE",
        help="by default those that upstream.toml has for this machine",
    )
    begins = nightly.add_mutually_exclusive_group()
    begins.add_argument(
        "--resume", action="store_true", help="go on with the newest night, if it was interrupted"
    )
    begins.add_argument(
        "--restore", action="store_true", help="only start again what a killed night left stopped"
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


def _add_history(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The commands about what nights and runs came to."""
    history = _command(commands, "history", "tell what nights and runs came to", reads=True)
    history.add_argument(
        "--nights",
        type=cli_kinds.days,
        metavar="N",
        help="how many, the newest first; by default 14, of one lane 3, as JSON all",
    )
    history.add_argument("--runs", action="store_true", help="list every run, too")
    history.add_argument(
        "--prune",
        type=cli_kinds.days,
        metavar="DAYS",
        help="remove folders of older nights and runs; what they came to stays in the history",
    )
    history.set_defaults(anywhere=True)
    bundle = _command(
        commands,
        "bundle",
        "pack what a run or a night left behind, without what is private, to attach in public",
        reads=True,
        of_lane=False,
    )
    bundle.add_argument("of", metavar="RUN", help="a run, a night, or a lane for its newest run")
    bundle.add_argument("--out", type=Path, metavar="FILE", help="the archive, .tar.gz")
    bundle.add_argument(
        "--comment", action="store_true", help="print Markdown for a comment, and write nothing"
    )
    bundle.set_defaults(anywhere=True)
    page = _command(commands, "page", "write a static page that shows nights", of_lane=False)
    page.add_argument(
        "--out", type=Path, metavar="DIR", help="a new or an empty folder, or an earlier page"
    )


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    text: str,
    *,
    reads: bool = False,
    of_lane: bool = True,
    module: str | None = None,
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
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
