"""``lanewright`` as a process of its own: killed, interrupted, or run beside another."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

COMMAND = (sys.executable, "-m", "lanewright")


def start(
    root: Path, *arguments: str, env: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """Start a command line in a project; both its streams are pipes."""
    return started([*COMMAND, "-C", str(root), *arguments], {**os.environ, **(env or {})})


def started(
    command: Sequence[str], env: Mapping[str, str], *, nohup: bool = False
) -> subprocess.Popen[str]:
    """Start a command that hears SIGINT and SIGHUP, which whoever runs the tests may ignore.

    With ``nohup`` it is started as by that.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    hung_up = signal.signal(signal.SIGHUP, signal.SIG_IGN if nohup else signal.SIG_DFL)
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        )
    finally:
        signal.signal(signal.SIGHUP, hung_up)


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for it; give back its exit code, stdout and stderr."""
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def killing_git(folder: Path, moment: str, subcommand: str) -> dict[str, str]:
    """An environment whose git kills the process that called it, with -9.

    Args:
        folder: Where to keep the stand-in that starts the real git.
        moment: ``before`` the real git runs, or ``after``.
        subcommand: The git call to do it at; all others go straight through.
    """
    folder.mkdir()
    calls = {"before": "kill -9 $PPID; exit 1", "after": '"$GIT" "$@"; kill -9 $PPID; exit 1'}
    git = folder / "git"
    git.write_text(
        f"#!/bin/sh\nGIT={_real_git()}\n"
        f'for word; do [ "$word" = {subcommand} ] && {{ {calls[moment]}; }}; done\n'
        'exec "$GIT" "$@"\n'
    )
    git.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def _real_git() -> str:
    found: Iterator[Path] = (Path(part) / "git" for part in os.environ["PATH"].split(":"))
    return str(next(path for path in found if path.exists()))
