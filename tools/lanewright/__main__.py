"""Entry point: one handler turns every error into a message and an exit code."""

import gc
import os
import signal
import sys
import traceback
from pathlib import Path

from lanewright.cli import Arguments, parse
from lanewright.errors import UNREACHED, ExitCode, LanewrightError, UnreachedError
from lanewright.places import Places
from lanewright.project import NoProjectError, Project
from lanewright.store.git import trace_calls
from lanewright.terminal import prepare_streams, printable, say
from lanewright.transaction.editing import recover

MADE_BEFORE_A_LOOK = 50_000


def main() -> None:
    """Run the command line and exit with its code."""
    prepare_streams()
    # A build makes few rings, and looking for them in all that is loaded is a tenth of its time.
    gc.freeze()
    gc.set_threshold(MADE_BEFORE_A_LOOK)
    # So that a service manager's stop, or a lost terminal, runs every clean-up, as Ctrl-C does.
    for number in (signal.SIGTERM, signal.SIGHUP):
        # Under nohup one of them is ignored.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda found, _: sys.exit(128 + found))
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command; give back its exit code."""
    try:
        return _dispatch(parse(arguments))
    except LanewrightError as error:
        say(f"lanewright: {printable(str(error))}")
        if isinstance(error, UnreachedError):
            say(UNREACHED)
        if error.hint:
            say(f"  next: {printable(error.hint)}")
        return error.exit_code
    except KeyboardInterrupt:
        say("lanewright: interrupted; nothing half-written stays")
        return ExitCode.INTERRUPTED
    except OSError as error:
        place = f": {printable(os.fsdecode(error.filename))}" if error.filename else ""
        say(f"lanewright: {error.strerror or error}{place}")
        return ExitCode.INPUT
    except Exception:  # noqa: BLE001 - the last handler; it hides nothing
        say(traceback.format_exc())
        say("lanewright: this is a bug; please report it with the lines above")
        return ExitCode.BUG


def _dispatch(arguments: Arguments) -> int:
    trace_calls(on=arguments.trace)
    # What was stopped starts again, whatever became of the project.
    project = None if getattr(arguments, "restore", False) else _found(arguments)
    if sys.stdout is None:  # started with its standard output closed
        raise LanewrightError("standard output is closed, and that is where data goes")
    return arguments.command(project, Places.of_user(), arguments)


def _found(arguments: Arguments) -> Project | None:
    start = (arguments.directory or Path.cwd()).absolute()
    project = _project(start, needed=not arguments.anywhere)
    if project and recover(project):  # it may have replaced upstream.toml, too
        project = Project.find(start)
    return project


def _project(start: Path, *, needed: bool) -> Project | None:
    try:
        return Project.find(start)
    except NoProjectError:
        if needed:
            raise
        return None


if __name__ == "__main__":
    main()
