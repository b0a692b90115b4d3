"""Containers that do not outlive this process, and one that serves."""

import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lanewright.errors import MismatchError
from lanewright.guarded import ended
from lanewright.image.container.command import MODEL, OWN, SHUT, mounted, needed
from lanewright.image.container.engine import Engine
from lanewright.image.tool import ANSWER_SECONDS, asked
from lanewright.queue.series_run import RunSpec
from lanewright.serve.caches import Caches
from lanewright.serve.child import Child, child, watch
from lanewright.serve.environment import STEP_SECONDS
from lanewright.store.scratch import HOST

# What a boot sets outside, too: no network, no tracking, little cache.
ENVIRON: Mapping[str, str] = {
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "NO_COLOR": "1",
    "PYTHONSAFEPATH": "1",
    "PYTHONUNBUFFERED": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_HOST_IP": "127.0.0.1",
    "VLLM_NO_USAGE_STATS": "1",
}
STOP_SECONDS = 60
SECONDS: Mapping[str, float] = {"s": 1, "m": 60, "h": 3600}
NAME = "lanewright-smoke"
INSIDE = Path(__file__).parent / "inside"
# Ends a script that would not hear of its starter's end.
FIRST = "first.py"
# An engine may be another machine's, where others' containers are, too.
OURS = re.compile(rf"{NAME}-.+-{HOST}-([0-9]+)")


@dataclass(frozen=True)
class Box:
    """How containers of one image are run here.

    Attributes:
        engine: What runs them.
        image: Its name in the engine's storage.
        run: What the lane needs of the machine.
        mounts: Flags that mount folders.
        folder: For logs.
        model: Where a container has the lane's model.
        caches: What outlives the container; None where nothing does but the lane's own volumes.
    """

    engine: Engine
    image: str
    run: RunSpec
    mounts: Sequence[str]
    folder: Path
    model: str = MODEL
    caches: Caches | None = None

    def command(self, name: str, words: Sequence[str], *flags: str) -> list[str]:
        """A container without network or capabilities, whose root cannot be written."""
        environ = {**environ_of(self.caches, self.run), **ENVIRON}
        return [
            *(self.engine.program, "run", "--rm", f"--name={name}", "--network=none"),
            *self.engine.machine_flags(),
            *SHUT,
            *needed(self.run),
            *(f"--env={key}={value}" for key, value in environ.items()),
            *self.mounts,
            *self._kept(),
            *flags,
            self.image,
            *words,
        ]

    def _kept(self) -> list[str]:
        """Flags that mount what outlives the container, each where it is outside."""
        if self.caches is None:
            return []
        for folder in self.caches.folders:
            open_to(self.engine, folder)
        kept = self.caches.shared, self.caches.own
        return [mounted(folder, str(folder), writable=True) for folder in kept]

    def python(self, name: str, words: Sequence[str], *flags: str) -> None:
        """Run a script by the container's Python to its end; ``INSIDE`` is mounted at ``OWN``.

        Raises:
            BootError: It failed, or hung.
        """
        whole = own_name(name)
        command = self.command(whole, [f"{OWN}/{FIRST}", *words], "--entrypoint=python3", *flags)
        with self.running(name, command, whole) as running:
            status = watch(running, seconds=patience(self.run))
            if status:
                raise running.died(f"{ended(status)} in a container")

    @contextmanager
    def running(self, name: str, command: Sequence[str], whole: str) -> Iterator[Child]:
        """Run a container while the block runs, and remove it however that is left."""
        log = self.folder / f"{name}.log"
        with child(name, command, environ=os.environ, log=log) as running:
            try:
                yield running
            finally:
                # Before its client is ended, which waits for what a container does not hear.
                self.asked("rm", "--force", "--volumes", whole)

    def asked(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Ask the engine, whatever it answers."""
        return asked([self.engine.program, *words])

    def stopped(self, name: str, running: Child) -> float:
        """Stop a container as a service manager does; seconds that it took.

        Raises:
            MismatchError: It had to be killed, or told a failure.
            BootError: It did not end at all.
        """
        start = time.monotonic()
        self.asked("stop", f"--time={STOP_SECONDS}", name)
        try:
            status = running.guard.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise running.died(f"did not stop within {STOP_SECONDS} s") from error
        took = time.monotonic() - start
        if status:
            raise MismatchError(
                f"the server in the container {ended(status)} when it was stopped",
                hint=f"read {running.log}",
            )
        return took


def environ_of(caches: Caches | None, run: RunSpec) -> dict[str, str]:
    """Variables that name the caches; a place that the lane names itself stays its own."""
    told = caches.environ() if caches else {}
    return {name: place for name, place in told.items() if name not in run.environment}


def patience(run: RunSpec) -> float:
    """Seconds that a process may go without a step: a large model loads for as long as is said."""
    return max(STEP_SECONDS, int(run.health_start[:-1]) * SECONDS[run.health_start[-1]])


def open_to(engine: Engine, folder: Path) -> None:
    """Have a container write into a folder of this process.

    Root in there has no capability to write what is somebody else's. With podman it is whoever
    runs it; with docker it is the machine's root, who may be somebody else.
    """
    if engine.name == "docker" and os.geteuid():
        folder.chmod(0o777)


def own_name(name: str) -> str:
    """What a container of this process is called."""
    return f"{NAME}-{name}-{HOST}-{os.getpid()}"


def clear_dead(engine: Engine) -> None:
    """Remove containers whose process was killed; those of other machines are left to them."""
    command = [engine.program, "ps", "--all", f"--filter=name={NAME}-", "--format={{.Names}}"]
    for name in asked(command, seconds=ANSWER_SECONDS).stdout.split():
        found = OURS.fullmatch(name)
        if found and not Path("/proc", found[1]).exists():
            asked([engine.program, "rm", "--force", name])
