"""Where engines in containers keep what they compile and tune, so that it outlives the container.

A folder of this machine for each lane, and in it one for each base image on each kind of machine:

    <lane>/<base>-<machine>/shared/     tactics/ flashinfer/ cuda/
    <lane>/<base>-<machine>/<tree>/     vllm/ inductor/ triton/ numba/ xdg/

What hangs on the base and the machine alone is shared by the trees that run there: the unpatched pin and
every tree of the lane. What is compiled of a tree's own code is that tree's.

The names: vLLM's ``envs.py`` (``VLLM_CACHE_ROOT``, in which it also puts what DeepGEMM compiles;
``VLLM_FLASHINFER_AUTOTUNE_CACHE_DIR``), FlashInfer's ``jit/env.py`` (``FLASHINFER_WORKSPACE_BASE``),
torch's and Triton's own, and the CUDA driver's (``CUDA_CACHE_PATH``).
"""

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.serve.environment import TACTICS
from lanewright.serve.equality.machine import machine
from lanewright.store.objects import TreeId
from lanewright.terminal import quoted

SHARED: Mapping[str, str] = {
    TACTICS: "tactics",
    "FLASHINFER_WORKSPACE_BASE": "flashinfer",
    "CUDA_CACHE_PATH": "cuda",
}
OWN: Mapping[str, str] = {
    "VLLM_CACHE_ROOT": "vllm",
    "TORCHINDUCTOR_CACHE_DIR": "inductor",
    "TRITON_CACHE_DIR": "triton",
    "NUMBA_CACHE_DIR": "numba",
    "XDG_CACHE_HOME": "xdg",
}
# Of a name that is a digest.
SHOWN = 12


@dataclass(frozen=True)
class Caches:
    """The folders that containers of one tree are given.

    Attributes:
        shared: Of what hangs on base and machine.
        own: Of what hangs on the tree, too.
    """

    shared: Path
    own: Path

    @property
    def tactics(self) -> Path:
        """Has the one file of FlashInfer's tactics."""
        return self.shared / SHARED[TACTICS]

    @property
    def folders(self) -> tuple[Path, ...]:
        """Every folder that a variable names."""
        return tuple(Path(each) for each in self.environ().values())

    def environ(self) -> dict[str, str]:
        """The variables by which engines find them."""
        return {
            **{name: str(self.shared / place) for name, place in SHARED.items()},
            **{name: str(self.own / place) for name, place in OWN.items()},
        }


def caches_of(
    places: Places, lane: str, *, base: str, tree: TreeId, wanted: str | None = None
) -> Caches:
    """Make the folders of a tree, for their owner alone.

    Args:
        places: Where the state is.
        lane: The lane's name.
        base: Digest of the base image's configuration.
        tree: That runs.
        wanted: Folder of this machine that has the lanes' instead, as a series says it.

    Raises:
        LanewrightError: They cannot be made, or the lane's is somebody else's, or a link.
    """
    root = Path(wanted) if wanted else places.state / "caches"
    lanes = root / lane
    stands = f"{base.removeprefix('sha256:')[:SHOWN]}-{kind_of_machine()[:SHOWN]}"
    caches = Caches(lanes / stands / "shared", lanes / stands / tree[:SHOWN])
    try:
        root.mkdir(parents=True, exist_ok=True)
        lanes.mkdir(mode=0o700, exist_ok=True)
        _require_private(lanes)
        for folder in caches.folders:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LanewrightError(
            f"cannot keep what engines compile in {lanes}: {error.strerror or error}",
            hint="name another folder as `caches` in [image.run] of the lane's series, or in"
            " LANEWRIGHT_STATE",
        ) from error
    return caches


def kind_of_machine() -> str:
    """SHA-256 of what compiled and tuned code hangs on; not of the cores that this process has."""
    told = {name: value for name, value in machine().items() if name != "cores"}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _require_private(folder: Path) -> None:
    """Have nobody else read or write what engines will run.

    Raises:
        LanewrightError: It is a link, no folder, or another user's.
        OSError: Its mode cannot be changed.
    """
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise LanewrightError(
            f"{folder} is no folder of this user's own, and engines would run what is in it",
            hint=f"see what it is: ls -ld {quoted(folder)}",
        )
    if stat.S_IMODE(found.st_mode) != 0o700:  # noqa: PLR2004 - as a shell has it
        folder.chmod(0o700)
