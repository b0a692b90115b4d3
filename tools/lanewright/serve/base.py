"""Base environments: vLLM's dependencies without vLLM, shared by every release and tree."""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path

from lanewright.errors import HardwareError, LanewrightError
from lanewright.guarded import guarded
from lanewright.places import Places
from lanewright.serve.environment import cleaned
from lanewright.store.locking import held
from lanewright.store.pip import NO_ROOM, no_room
from lanewright.terminal import say, stage

TORCH = "2.13.0+cpu"
# PyTorch's public index of CPU builds, asked only where the user's own settings have none.
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
MACHINES = ("x86_64", "aarch64")
SHOWN_LINES = 12
# Of pip's lines, those that show that it gets on.
TOLD = ("Downloading", "Installing", "Successfully")


def ensure_base(places: Places, requirements: Path) -> Path:
    """Find or build the base environment of a requirement list.

    Args:
        places: Where environments are kept.
        requirements: Pinned list, installed without its dependencies, as ``pip`` reads it.

    Returns:
        The environment's Python. It has neither vLLM nor a package of this project.

    Raises:
        LanewrightError: No Python 3.11, no network, no room, or a list that pip refuses.
        HardwareError: vLLM has no CPU build for this machine.
    """
    folder = places.bases / base_name(requirements)
    try:
        with held(folder.with_suffix(".lock"), f"builds {folder.name}"):
            if not complete(folder):
                build(folder, requirements)
    except OSError as error:
        raise LanewrightError(
            f"base environment {folder}: {error}",
            hint="free some disk space, or name another folder in LANEWRIGHT_STORE",
        ) from error
    return folder / "bin" / "python"


def base_name(requirements: Path) -> str:
    """Name the environment after all that goes into it.

    Raises:
        LanewrightError: This system is not Linux, or the list cannot be read.
        HardwareError: vLLM has no CPU build for this machine.
    """
    if sys.platform != "linux":
        raise LanewrightError(
            f"lanes boot on Linux only; this is {sys.platform}",
            hint="run this command on a Linux machine or in a Linux container",
        )
    machine = platform.machine()
    if machine not in MACHINES:
        raise HardwareError(f"vLLM has CPU builds for {' and '.join(MACHINES)}; this is {machine}")
    try:
        wanted = requirements.read_bytes()
    except OSError as error:
        raise LanewrightError(f"requirement list {requirements}: {error.strerror}") from error
    digest = hashlib.sha256(wanted + b"\ntorch==" + TORCH.encode()).hexdigest()
    return f"cp311-{machine}-{digest[:12]}"


def complete(folder: Path) -> bool:
    """Tell whether a build came to its end and the Python under it is still there."""
    return (folder / "complete").is_file() and (folder / "bin" / "python").exists()


def build(folder: Path, requirements: Path) -> None:
    """Build an environment, or leave nothing behind."""
    if folder.exists():
        say(f"removing {folder.name}, which an earlier run left incomplete")
        shutil.rmtree(folder)
    try:
        with stage(f"base environment {folder.name}"):
            fill(folder, requirements)
        (folder / "complete").touch()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def fill(folder: Path, requirements: Path) -> None:
    """Make a virtual environment and install torch and the list into it."""
    interpreter = python311()
    python = folder / "bin" / "python"
    if (failed := run([interpreter, "-m", "venv", "--without-pip", str(folder)])) is not None:
        raise LanewrightError(
            f"{interpreter} cannot make a virtual environment:\n{failed}",
            hint="install Python 3.11 with its venv module (Debian: python3.11-venv)",
        )
    install_torch(python)
    if (failed := pip(python, "--requirement", str(requirements.absolute()))) is not None:
        raise LanewrightError(
            f"pip could not install {requirements.name}:\n{failed}",
            hint=NO_ROOM
            if no_room([failed])
            else "check the network and pip's settings (pip config list), then run again",
        )


def install_torch(python: Path) -> None:
    """Install the CPU build of torch."""
    get_torch(partial(pip, python))


def get_torch(asked: Callable[..., str | None]) -> None:
    """Get the CPU build of torch from the user's own index, else from PyTorch's.

    Args:
        asked: Calls pip with these arguments more; gives the last lines of its output where it
            failed.

    Raises:
        LanewrightError: Neither has it.
    """
    wanted = f"torch=={TORCH}"
    own = asked(wanted)
    if own is None:
        return
    say(f"pip's own settings have no {wanted}; asking {TORCH_INDEX}")
    public = asked("--index-url", TORCH_INDEX, "--retries", "0", "--timeout", "15", wanted)
    if public is not None:
        raise LanewrightError(
            f"{wanted} is neither where pip is set to look:\n{own}\n"
            f"nor at {TORCH_INDEX}:\n{public}",
            hint=NO_ROOM
            if no_room([own, public])
            else f"put a wheel of {wanted} into a folder and name it in PIP_FIND_LINKS",
        )


def pip(python: Path, *arguments: str) -> str | None:
    """Install without dependencies; the last lines of pip's output where it failed."""
    # Bytecode is made at the first boot, under PYTHONPYCACHEPREFIX.
    command = [sys.executable, "-m", "pip", "--python", str(python), "install"]
    return run([*command, "--no-deps", "--no-compile", *arguments])


def run(command: list[str]) -> str | None:
    """Run a command with its output on stderr; its last lines where it failed."""
    last: deque[str] = deque(maxlen=SHOWN_LINES)
    environ = {**cleaned(os.environ), "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    with subprocess.Popen(
        guarded(command),
        env=environ,
        stdin=subprocess.PIPE,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        for line in process.stdout or ():
            if line.lstrip().startswith(("WARNING:", "DEPRECATION:")):
                continue
            last.append(line.rstrip())
            if line.lstrip().startswith(TOLD):
                say(f"  {line.rstrip()}")
    return None if process.returncode == 0 else "\n".join(last)


def python311() -> str:
    """Find CPython 3.11: the one that runs this, else ``python3.11`` on PATH."""
    if platform.python_version_tuple()[:2] == ("3", "11"):
        return sys.executable
    found = shutil.which("python3.11")
    probe = [found or "", "-c", "import sys; sys.exit(sys.version_info[:2] != (3, 11))"]
    # A version manager's shim may be on PATH for a version that it does not have.
    if found is None or subprocess.run(probe, check=False, capture_output=True).returncode != 0:
        raise LanewrightError(
            "Python 3.11 is needed to boot a lane, and there is no working python3.11 on PATH",
            hint="install Python 3.11 (Debian: apt install python3.11 python3.11-venv)",
        )
    return found
