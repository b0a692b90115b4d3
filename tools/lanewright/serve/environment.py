"""The process environment that everything of a lane runs in."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lanewright.serve.child import Child, child

# Where a server's worker tells how the map of its experts does; ``/metrics`` and `residency top` read it.
STATS = "EXPERT_BANK_STATS"
# Where vLLM keeps the tactics that FlashInfer's tuner chose, which takes it an hour.
TACTICS = "VLLM_FLASHINFER_AUTOTUNE_CACHE_DIR"
# How long a lane's process may go without a step.
STEP_SECONDS = 900.0
# What a boot does must not hang on the shell that it was started from: other import paths, a
# preloaded library, tuning of threads or compilers, or a token for the network.
DROPPED = (
    "EXPERT_BANK_RECORD",
    "EXPERT_BANK_SERVER",
    "EXPERT_BANK_STATS",
    "GOMP_",
    "HF_",
    "HUGGING_FACE_",
    "INDUCTOR_",
    "KMP_",
    "LANEWRIGHT_SHIMS",
    "LD_PRELOAD",
    "OMP_",
    "PYTHON",
    "TORCH",
    "TRANSFORMERS_",
    "TRITON_",
    "VIRTUAL_ENV",
    "VLLM_",
    "XDG_CACHE_HOME",
    "__PYVENV_LAUNCHER__",
)


@dataclass(frozen=True)
class LaneEnv:
    """How to run the Python of a lane.

    Attributes:
        python: Interpreter of the base environment.
        site: Folder with the lane's tree, the release's compiled files and the metadata.
        bytecode: Where Python keeps its compiled files; the caches of vLLM, torch and Hugging
            Face lie beside it.
        shims: What this machine lacks for the lane and is stood in for, by the names of
            ``inside/shims``, in order.
    """

    python: Path
    site: Path
    bytecode: Path
    shims: tuple[str, ...] = ()

    @property
    def base(self) -> str:
        """What is below the site, by a name that tells all of it."""
        return self.python.parent.parent.name

    @property
    def patience(self) -> float:
        """Seconds that a process may go without a step."""
        return STEP_SECONDS

    @property
    def given(self) -> Mapping[str, object]:
        """What its processes have of the machine beside the caller's variables."""
        return {}

    @property
    def caches(self) -> Path:
        """Folder for whatever vLLM and its dependencies would keep in the user's home."""
        return self.bytecode.parent / "caches"

    def holds(self, file: str, version: str) -> bool:  # noqa: ARG002 - an image is told by that
        """Whether what Python imported as vLLM is the tree's.

        Args:
            file: Its ``__init__.py``.
            version: What it calls itself.
        """
        return Path(file).is_relative_to(self.site)

    @contextmanager
    def running(
        self,
        name: str,
        words: Sequence[str],
        *,
        environ: Mapping[str, str],
        log: Path,
        reads: Sequence[Path] = (),  # noqa: ARG002 - a container has only what it is given
    ) -> Iterator[Child]:
        """Run the lane's Python while the block runs, in the folder of its log.

        Args:
            name: What it is, for messages.
            words: What Python is given.
            environ: Variables beside the lane's own.
            log: For both output streams; its folder may be written.
            reads: What is read beside that and the script itself.
        """
        command = [str(self.python), *words]
        whole = {**self.environ(), **environ}
        with child(name, command, environ=whole, log=log) as started:
            yield started

    def environ(self) -> dict[str, str]:
        """Make the whole environment of a child process; this process's own is left alone."""
        return {
            **cleaned(os.environ),
            # No path of the caller's: a folder named vllm in the current directory would win.
            "PYTHONSAFEPATH": "1",
            "PYTHONPATH": str(self.site),
            "PYTHONPYCACHEPREFIX": str(self.bytecode),
            "PYTHONUNBUFFERED": "1",
            "HF_HOME": str(self.caches / "huggingface"),
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "DO_NOT_TRACK": "1",
            "VLLM_DO_NOT_TRACK": "1",
            "VLLM_NO_USAGE_STATS": "1",
            "VLLM_CACHE_ROOT": str(self.caches / "vllm"),
            "VLLM_CONFIG_ROOT": str(self.caches / "vllm-config"),
            "TORCHINDUCTOR_CACHE_DIR": str(self.caches / "inductor"),
            "TRITON_CACHE_DIR": str(self.caches / "triton"),
            "NUMBA_CACHE_DIR": str(self.caches / "numba"),
            # Of another base it would be neither read nor written.
            TACTICS: str(self.caches / "tactics" / self.base),
            "XDG_CACHE_HOME": str(self.caches / "xdg"),
            # Else vLLM looks for an outside address of this machine.
            "VLLM_HOST_IP": "127.0.0.1",
            "VLLM_CPU_KVCACHE_SPACE": "1",
            "NO_COLOR": "1",
            **({"LANEWRIGHT_SHIMS": ",".join(self.shims)} if self.shims else {}),
        }


def cleaned(environ: Mapping[str, str]) -> dict[str, str]:
    """Copy an environment without what would change how a lane runs."""
    return {name: value for name, value in environ.items() if not name.startswith(DROPPED)}
