"""The Python of an image, run as a lane's."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lanewright.image.container.boxed import (
    ENVIRON,
    FIRST,
    INSIDE,
    Box,
    environ_of,
    open_to,
    own_name,
    patience,
)
from lanewright.image.container.command import mounted, needed
from lanewright.image.container.engine import Engine
from lanewright.queue.series_run import RunSpec
from lanewright.serve.caches import Caches
from lanewright.serve.child import Child, child
from lanewright.serve.environment import LaneEnv

# In the version of every lane.
LANE = "+lane."


@dataclass(frozen=True, kw_only=True)
class ImageEnv(LaneEnv):
    """What runs in a container: without network, with a root that cannot be written.

    Files are where they are outside, so that what a script is told holds inside, too.

    Attributes:
        engine: What runs the container.
        image: Its name in the engine's storage.
        image_id: Digest of its configuration.
        packages: Folder in it that holds vLLM.
        version: What a lane's layer has vLLM call itself; empty for the unpatched pin.
        run: What the lane needs of the machine.
        kept: What outlives its containers; None where nothing does but the lane's own volumes.
    """

    engine: Engine
    image: str
    image_id: str
    packages: Path
    version: str
    run: RunSpec
    kept: Caches | None = None

    @property
    def base(self) -> str:
        """The image's own id: all that is in it."""
        return self.image_id

    @property
    def patience(self) -> float:
        """Seconds that a process may go without a step."""
        return patience(self.run)

    @property
    def given(self) -> Mapping[str, object]:
        """What the series asks of the machine, each of which may be heard."""
        return {"needed": needed(self.run)}

    def environ(self) -> dict[str, str]:
        """What a container is given beside its image's own variables."""
        return {**environ_of(self.kept, self.run), **self.run.environment, **ENVIRON}

    def holds(self, file: str, version: str) -> bool:
        """Whether what Python imported as vLLM is this side's: pin and lane are in one place."""
        if not Path(file).is_relative_to(self.packages):
            return False
        return version == self.version if self.version else LANE not in version

    @contextmanager
    def running(
        self,
        name: str,
        words: Sequence[str],
        *,
        environ: Mapping[str, str],
        log: Path,
        reads: Sequence[Path] = (),
    ) -> Iterator[Child]:
        """Run the image's Python while the block runs, and remove its container after it.

        Args:
            name: What it is, for messages.
            words: What Python is given: a script of this machine, and what that is given.
            environ: Variables beside the lane's own.
            log: For both output streams; its folder may be written.
            reads: What is read beside that and the script itself.
        """
        folder, whole = log.parent, own_name(name)
        open_to(self.engine, folder)
        mounts = [
            mounted(folder, str(folder), writable=True),
            *(
                mounted(path, str(path))
                for path in dict.fromkeys([INSIDE, Path(words[0]).parent, *reads])
            ),
        ]
        box = Box(self.engine, self.image, self.run, mounts, folder, caches=self.kept)
        flags = [f"--env={key}={value}" for key, value in environ.items()]
        words = [str(INSIDE / FIRST), *words]
        command = box.command(whole, words, "--entrypoint=python3", f"--workdir={folder}", *flags)
        with child(name, command, environ=os.environ, log=log) as started:
            try:
                yield started
            finally:
                # Before its client is ended, which waits for what a container does not hear.
                box.asked("rm", "--force", "--volumes", whole)
