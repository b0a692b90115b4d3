"""The one place that runs git: bytes in and out, a closed environment, fixed settings."""

import errno
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.terminal import quoted, say

TRACE = "LANEWRIGHT_TRACE"
_tracing = ContextVar("_tracing", default=False)

# Given on the command line, so that neither the user's nor the system's configuration can change
# a byte of what git writes or the order of what it prints.
SETTINGS = {
    "core.attributesFile": "/dev/null",
    "core.autocrlf": "false",
    "core.quotePath": "true",
    "core.logAllRefUpdates": "false",
    "gc.auto": "0",
    # A rename guessed from likeness would move a hunk to a file that nobody named.
    "merge.renames": "false",
    "merge.directoryRenames": "false",
    "merge.conflictStyle": "diff3",
    "protocol.allow": "never",
}

NONE: Mapping[str, str] = {}
# What git says when it needs an object that a partial clone left at its remote.
NOT_BROUGHT = "from promisor remote"
LITTLE = 64 * 2**10
NO_SPACE, TOO_LARGE = os.strerror(errno.ENOSPC), os.strerror(errno.EFBIG)
READ_ONLY, DENIED = os.strerror(errno.EROFS), os.strerror(errno.EACCES)

IDENTITY = "lanewright <lanewright@localhost>"
FIXED_DATE = "946684800 +0000"

# Nothing of the caller's: a GIT_DIR or GIT_INDEX_FILE left there by a hook would send our writes to
# the user's own repository.
ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    # A partial clone would fetch a missing object by itself; only store.network may go out.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_AUTHOR_NAME": "lanewright",
    "GIT_AUTHOR_EMAIL": "lanewright@localhost",
    "GIT_AUTHOR_DATE": FIXED_DATE,
    "GIT_COMMITTER_NAME": "lanewright",
    "GIT_COMMITTER_EMAIL": "lanewright@localhost",
    "GIT_COMMITTER_DATE": FIXED_DATE,
}


class GitError(LanewrightError):
    """A git call failed in a way its caller does not handle."""


@dataclass(frozen=True)
class Output:
    """What one git call gave back, byte for byte."""

    status: int
    stdout: bytes
    stderr: str


@dataclass(frozen=True)
class Repository:
    """A bare repository; all calls are made inside it, whatever the working folder is."""

    path: Path

    def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        index: Path | None = None,
        ok: tuple[int, ...] = (0,),
    ) -> Output:
        """Run one git command.

        Args:
            arguments: Subcommand and its arguments; put ``--end-of-options`` before any name
                that came from outside.
            stdin: Bytes for the command to read.
            index: Index file to use; without it no index is touched.
            ok: Exit statuses that the caller handles.

        Raises:
            GitError: git is missing, or ended with a status not in ``ok``.
        """
        start = time.monotonic()
        try:
            done = subprocess.run(
                self.command(*arguments),
                input=stdin,
                capture_output=True,
                check=False,
                cwd=self.path if self.path.is_dir() else None,  # another run may be making it
                env=self.environment(index),
            )
        except OSError as error:
            raise no_git(error) from error
        status, stderr = done.returncode, done.stderr.decode("utf-8", "replace").rstrip()
        trace(arguments, status, since=start)
        if status not in ok:
            if NO_SPACE not in stderr and _is_full(self.path):  # git does not always say so
                stderr = f"{stderr} ({NO_SPACE})"
            told = f"git {' '.join(arguments)} ended with {status}: {stderr}"
            raise GitError(told, hint=hint(self, stderr))
        return Output(status, done.stdout, stderr)

    def command(self, *arguments: str, settings: Mapping[str, str] = NONE) -> list[str]:
        """The command line of a call; ``settings`` come after ours, so they win."""
        both = [f"{key}={value}" for key, value in (*SETTINGS.items(), *settings.items())]
        flags = [part for setting in both for part in ("-c", setting)]
        return ["git", f"--git-dir={self.path}", *flags, *arguments]

    def environment(self, index: Path | None = None) -> dict[str, str]:
        """Every variable that git may see, and no other; without ``index`` it has none."""
        return {
            **ENVIRONMENT,
            "PATH": os.environ.get("PATH", os.defpath),
            "GIT_INDEX_FILE": str(index or self.path / "no-index"),
        }


def hint(repository: Repository, told: str) -> str:
    """What to do about a failure, by what was told of it."""
    if NO_SPACE in told or TOO_LARGE in told:
        return f"make room where {repository.path} is; nothing of it is lost"
    if READ_ONLY in told or DENIED in told:
        return f"give yourself the right to write in {repository.path}; nothing of it is lost"
    if NOT_BROUGHT in told:
        return "bring what is missing into the store: lanewright fetch"
    return f"if the store is damaged, it is made again: rm -r {quoted(repository.path)}"


def _is_full(path: Path) -> bool:
    """Whether the disk has no room for even a few objects more."""
    try:
        room = os.statvfs(path)
    except OSError:
        return False
    return room.f_bavail * room.f_frsize < LITTLE


def trace_calls(*, on: bool) -> None:
    """Print each git call and its time to stderr from here on, or no more."""
    _tracing.set(on)


def trace(arguments: Sequence[str], status: int, *, since: float) -> None:
    """Print a git call that began at ``since`` of the monotonic clock, if calls are traced."""
    if _tracing.get() or os.environ.get(TRACE):
        taken = (time.monotonic() - since) * 1000
        say(f"git {' '.join(arguments)}  [{status}, {taken:.1f} ms]")


def no_git(error: Exception) -> GitError:
    """Make the error for a machine without git."""
    reason, *_ = str(error).strip().splitlines() or ["unknown"]
    return GitError(
        f"cannot start git: {reason}", hint="install git 2.39 or newer and have it on PATH"
    )


def create(path: Path) -> Repository:
    """Open the bare repository at ``path``, made first if it is not there.

    Safe beside another process doing the same, and after one that was killed at it: ``git init``
    is idempotent, and makes ``objects/info`` last.
    """
    repository = Repository(path)
    if not (path / "objects" / "info").exists():
        path.mkdir(parents=True, exist_ok=True)
        repository.run("init", "--quiet", "--bare", "--template=", "--", str(path))
    return repository
