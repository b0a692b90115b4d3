"""git calls that may reach a remote: one protocol each, no prompts, no settings of the user."""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.guarded import guarded
from lanewright.store.complaint import complaint, temporary
from lanewright.store.git import NONE, Output, Repository, no_git, trace
from lanewright.store.remote import Remote
from lanewright.terminal import say

Wait = Callable[[float], None]

# git's name for whatever remote a call goes to. The store names it as where the blobs are that it
# lacks, and keeps no url for it, so that git has nowhere to fetch them from by itself.
NAME = "upstream"
PAUSES = (1.0, 4.0)
NOT_FOUND = 127

# The caller's variables that a call may see, and the names under which git reads them.
HANDED_ON = {
    **{name: name for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy")},
    **{name: name for name in ("HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")},
    **{name: name for name in ("HOME", "SSH_AUTH_SOCK")},
    # curl's library, unlike its program, does not look at these two.
    "SSL_CERT_FILE": "GIT_SSL_CAINFO",
    "SSL_CERT_DIR": "GIT_SSL_CAPATH",
}
SILENT = {
    "GIT_ASKPASS": "",
    "GIT_SSH_COMMAND": "ssh -o BatchMode=yes -o ConnectTimeout=30"
    " -o ServerAliveInterval=15 -o ServerAliveCountMax=4",
}
SETTINGS = {
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "60",
    f"remote.{NAME}.promisor": "true",
    f"remote.{NAME}.partialCloneFilter": "blob:none",
}
# A remote on this machine is served by a git of ours, whatever it allows to others.
SERVED = "git -c uploadpack.allowFilter=true -c uploadpack.allowAnySHA1InWant=true upload-pack"


def call(
    repository: Repository,
    remote: Remote,
    *arguments: str,
    stdin: bytes = b"",
    settings: Mapping[str, str] = NONE,
    wait: Wait = time.sleep,
) -> bytes:
    """Run a git command that talks to a remote; tried again where the failure looks temporary.

    It does not outlive this process, however that ends.

    Args:
        repository: Where it is run.
        remote: The one remote that it can reach; ``arguments`` call it ``NAME``.
        arguments: Subcommand and its arguments.
        stdin: Bytes for the command to read.
        settings: git settings for this call alone.
        wait: How to wait for a number of seconds before the next try.

    Returns:
        What it printed.

    Raises:
        AbsentError: The remote does not have an object that was asked for.
        RemoteError: It cannot be reached, refused, or the call failed in another way.
    """
    for pause in (*PAUSES, None):
        output = _once(repository, remote, arguments, stdin=stdin, settings=settings)
        if not output.status:
            return output.stdout
        if pause is None or not temporary(output.stderr):
            break
        say(f"{remote.url} does not answer; trying again in {pause:.0f} s")
        wait(pause)
    raise complaint(remote, output.stderr, status=output.status)


def environment(repository: Repository, remote: Remote) -> dict[str, str]:
    """Every variable that a call to this remote may see."""
    handed_on = {name: os.environ[key] for key, name in HANDED_ON.items() if os.environ.get(key)}
    allowed = {"GIT_ALLOW_PROTOCOL": remote.protocol}
    return {**repository.environment(), **handed_on, **SILENT, **allowed}


def _once(
    repository: Repository,
    remote: Remote,
    arguments: tuple[str, ...],
    *,
    stdin: bytes,
    settings: Mapping[str, str],
) -> Output:
    own = {**SETTINGS, **settings, f"remote.{NAME}.url": remote.url}
    if remote.path:
        own[f"remote.{NAME}.uploadpack"] = SERVED
    command = repository.command(*arguments, settings=own)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lanewright-call-") as folder:
        source, out, talk = (Path(folder) / name for name in ("in", "out", "talk"))
        source.write_bytes(stdin)
        with out.open("wb") as stdout, talk.open("wb") as stderr:
            # The guard keeps its own input, so the command's is a file.
            process = subprocess.Popen(
                guarded(["sh", "-c", 'exec "$@" <"$0"', str(source), *command]),
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
                env=environment(repository, remote),
                cwd=repository.path,
                start_new_session=True,
            )
            with process:
                process.wait()
        trace(arguments, process.returncode, since=start)
        text = talk.read_text(encoding="utf-8", errors="replace")
        if process.returncode == NOT_FOUND:
            raise no_git(LanewrightError(text))
        return Output(process.returncode, out.read_bytes(), text)
