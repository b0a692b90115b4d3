"""What the kernel says of a process's memory while a model is loaded: ``load_rss.py SPEC``.

SPEC is a list of jobs that have ``name``; ``model``; ``engine`` (keyword arguments of
``vllm.LLM``); ``result``; and ``keeps``, see ``load_peak``.

Memory is what the kernel calls RssAnon, sampled; of a file of cold rows, what of it is in memory before
each layer's is given back. Its own record of the most (VmHWM) would count the
checkpoint's file, too: pages of it that a loader has mapped are the page cache's, and no one runs
out of memory for them.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any
from unittest.mock import patch

import forks
from load_peak import mapped
from load_plants import keeping

EVERY = 0.002
STATUS = Path("/proc/self/status")


@dataclass
class Seen:
    """Bytes of this process while a model was loaded.

    Attributes:
        before: Anonymous ones before it.
        peak: The most of them.
        file: The most that were of mapped files.
        samples: How often it was looked at.
        seconds: How long it took.
    """

    before: int = 0
    peak: int = 0
    file: int = 0
    samples: int = 0
    seconds: float = 0.0

    def look(self) -> None:
        """Take a sample."""
        anonymous, file = resident()
        self.peak, self.file = max(self.peak, anonymous), max(self.file, file)
        self.samples += 1

    @contextmanager
    def sampled(self) -> Iterator[None]:
        """Sample in a thread while the block runs."""
        over = Event()

        def sample() -> None:
            while not over.wait(EVERY):
                self.look()

        self.before, _ = resident()
        start = time.monotonic()
        thread = Thread(target=sample)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            self.look()
            self.seconds = time.monotonic() - start


def resident() -> tuple[int, int]:
    """Read how many bytes are in memory, anonymous ones and those of files."""
    lines = (line.split() for line in STATUS.read_text().splitlines())
    found = {line[0]: int(line[1]) * 1024 for line in lines if line[0].startswith("Rss")}
    return found["RssAnon:"], found["RssFile:"]


@contextmanager
def settled() -> Iterator[list[int]]:
    """List the bytes of cold rows of a file that are in memory at each end of a layer."""
    found: list[int] = []
    try:
        from expert_bank.cold_file import ColdFile  # noqa: PLC0415 - not in an unpatched tree
    except ImportError:
        yield found
        return
    real = ColdFile.settle

    def look_and_settle(file: ColdFile) -> None:
        found.append(file.in_memory())
        real(file)

    with patch.object(ColdFile, "settle", look_and_settle):
        yield found


def run(job: forks.Job) -> dict[str, Any]:
    """Load a model; what was seen."""
    from vllm import LLM  # noqa: PLC0415 - imported by the parent already
    from vllm.model_executor.model_loader.base_loader import BaseModelLoader  # noqa: PLC0415

    seen = Seen()
    load = BaseModelLoader.load_model

    def watched(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - vLLM's
        with seen.sampled():
            return load(*args, **kwargs)

    with ExitStack() as stack:
        stack.enter_context(patch.object(BaseModelLoader, "load_model", watched))
        cold = stack.enter_context(settled())
        banks = stack.enter_context(mapped())
        if job.get("keeps"):
            stack.enter_context(keeping(job["keeps"]))
        LLM(model=job["model"], **job["engine"])
    return {**vars(seen), "banks": sum(banks), "cold": cold}


if __name__ == "__main__":
    forks.run_all(run, *sys.argv[1:])
