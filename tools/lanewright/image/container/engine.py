"""podman or docker, as this machine has them."""

import os
import resource
import shutil
from dataclasses import dataclass
from pathlib import Path

from lanewright.cli_image import ENGINES
from lanewright.errors import LanewrightError
from lanewright.image.container.loaded import load
from lanewright.image.opened.image import OpenImage, open_image
from lanewright.image.tool import ANSWER_SECONDS, asked, run_tool
from lanewright.queue.lock import Lock, layer_of
from lanewright.terminal import quoted

# What podman asks for where nobody says less; a process cannot raise its own limits.
PODMAN_FILES = 1_048_576
PODMAN_PROCESSES = 32_768
# Names the engine where none is asked for.
CHOSEN = "LANEWRIGHT_ENGINE"
HYBRID = Path("/sys/fs/cgroup/unified")


@dataclass(frozen=True)
class Engine:
    """What runs containers.

    Attributes:
        name: ``podman`` or ``docker``.
        program: Where it is.
    """

    name: str
    program: str

    def machine_flags(self) -> list[str]:
        """What this machine needs beside what the lane does, to start any container at all."""
        if self.name != "podman":
            return []
        flags = []
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if 0 < files < PODMAN_FILES:
            processes = resource.getrlimit(resource.RLIMIT_NPROC)[1]
            most = PODMAN_PROCESSES if processes < 0 else min(processes, PODMAN_PROCESSES)
            flags += [f"--ulimit=nofile={files}:{files}", f"--ulimit=nproc={most}:{most}"]
        # crun, the default, refuses both hierarchies of control groups at once.
        if HYBRID.is_dir() and shutil.which("runc"):
            flags.append("--runtime=runc")
        return flags

    def has(self, image: str) -> bool:
        """Whether its storage has an image."""
        command = [self.program, "image", "inspect", image]
        return asked(command, seconds=ANSWER_SECONDS).returncode == 0


def engine_here(wanted: str | None = None) -> Engine:
    """The engine that is asked for, by an option or ``LANEWRIGHT_ENGINE``, else the first that answers.

    Raises:
        LanewrightError: There is none.
    """
    wanted = wanted or os.environ.get(CHOSEN)
    if wanted and wanted not in ENGINES:
        raise LanewrightError(
            f"{CHOSEN}={wanted} runs no containers here", hint=f"{CHOSEN} is {' or '.join(ENGINES)}"
        )
    names = [wanted] if wanted else list(ENGINES)
    told = []
    for name in names:
        program = shutil.which(name)
        if program is None:
            told.append(f"{name} is not on PATH")
            continue
        try:
            answer = asked([program, "info"], seconds=ANSWER_SECONDS)
        except LanewrightError as error:
            told.append(f"{name} does not answer: {error}")
            continue
        if answer.returncode == 0:
            return Engine(name, program)
        said = (answer.stderr or answer.stdout).strip().splitlines()
        told.append(f"{name} does not answer: {said[-1] if said else 'no reason given'}")
    raise LanewrightError(
        f"nothing here runs containers: {'; '.join(told)}",
        hint="apt-get install podman",
    )


def image_name(lock: Lock) -> str:
    """What a lane's image is called in an engine's storage."""
    tag = (layer_of(lock).version or lock.pin.version).replace("+", "_")
    return f"localhost/lanewright/{lock.lane}:{tag}"


def pulled(engine: Engine, lock: Lock, folder: Path) -> str:
    """Bring a lane's image into an engine's storage, unless it is there.

    Returns:
        By what it can be run.

    Raises:
        LanewrightError: The engine says no, or makes another image of it.
    """
    name = image_name(lock)
    mend = f"lanewright verify --image {lock.lane}"
    return bring(engine, open_image(folder, None), name, mend)


def pulled_base(engine: Engine, base: OpenImage) -> str:
    """Bring a lane's base into an engine's storage, unless it is there.

    Returns:
        By what it can be run.

    Raises:
        LanewrightError: As ``pulled`` says.
    """
    wanted = base.config_blob.digest.removeprefix("sha256:")
    name = f"localhost/lanewright/base:{wanted[:12]}"
    return bring(engine, base, name, f"rm -r {quoted(base.folder)}, and make it again")


def bring(engine: Engine, image: OpenImage, name: str, mend: str) -> str:
    """Bring an image into an engine's storage under a name, unless it is there.

    Args:
        engine: Whose.
        image: In a layout.
        name: With a tag.
        mend: What to type where another image came of it.

    Returns:
        By what it is run: its id, which no tag moves; of the newer of docker's two stores, where
        that is its manifest's, the name.

    Raises:
        LanewrightError: The engine says no, or makes another image of it.
    """
    wanted = image.config_blob.digest.removeprefix("sha256:")
    if not engine.has(wanted):
        if engine.name == "docker":
            load(engine.program, image, name)
            return wanted if engine.has(wanted) else name
        # It makes a name of the path, in which no part may begin with a dot.
        pull = [engine.program, "pull", "--quiet", f"oci:{image.folder.name}"]
        what = f"bring the image into {engine.name}'s storage"
        run_tool(pull, what, folder=image.folder.parent)
    if not engine.has(wanted):
        raise LanewrightError(
            f"{engine.name} has no image {wanted[:12]} after it was brought {image.folder}",
            hint=mend,
        )
    run_tool([engine.program, "tag", wanted, name], f"name it {name}")
    return wanted
