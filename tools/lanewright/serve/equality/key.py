"""All that determines the answers of an arm, as one key."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from lanewright.serve.engines import Arm
from lanewright.serve.environment import LaneEnv
from lanewright.serve.equality.machine import machine
from lanewright.serve.equality.sharing import Cores

DRIVER = Path(__file__).parents[1]
# Variables of the caller's that reach an engine and may change what it computes.
HEARD = (
    "ACL_",
    "ATEN_",
    "BLIS_",
    "CUBLAS",
    "CUDA_",
    "CUDNN_",
    "CUTLASS_",
    "DG_",
    "DNNL_",
    "EXPERT_BANK_",
    "FLASHINFER_",
    "GCC_",
    "GLIBC_TUNABLES",
    "GOTO_",
    "LANG",
    "LC_",
    "LD_",
    "MALLOC_",
    "MKL_",
    "NCCL_",
    "NPY_",
    "NUMBA_",
    "NVCC_",
    "NVIDIA_",
    "NVSHMEM_",
    "ONEDNN_",
    "OPENBLAS_",
    "PYTORCH_",
    "TBB_",
    "TRTLLM_",
    "VLLM_",
)
# The same, by the whole name: which compilers an engine finds, and what it gives them.
HEARD_WHOLE = frozenset(
    {
        "AR",
        "AS",
        "CC",
        "CFLAGS",
        "COMPILER_PATH",
        "CPATH",
        "CPLUS_INCLUDE_PATH",
        "CPPFLAGS",
        "CXX",
        "CXXFLAGS",
        "C_INCLUDE_PATH",
        "LD",
        "LDFLAGS",
        "LIBRARY_PATH",
        "PATH",
    }
)
BOOT_MAP = "moe_boot_map"


@dataclass(frozen=True, kw_only=True)
class Side:
    """One tree, and the engines that are booted of it.

    Attributes:
        name: Of the process, for messages and file names.
        env: Interpreter, site and shims.
        tree: Its id.
        arms: In the order they run.
        cores: Which it keeps to; None for all, and then no other side runs at the same time.
    """

    name: str
    env: LaneEnv
    tree: str
    arms: Sequence[Arm]
    cores: Cores | None = None


def key_of(side: Side, arm: Arm, *, model: str, environ: Mapping[str, str]) -> str:
    """SHA-256 of all that determines an arm's answers, but for the content of its boot map.

    Args:
        side: What it is booted of.
        arm: What is booted and asked.
        model: Hash of the model's files.
        environ: Variables beside the lane's own.
    """
    whole = {**side.env.environ(), **environ}
    stated = {
        "driver": driver(),
        "machine": machine(),
        "kept_to": side.cores,
        "tree": side.tree,
        # Holds the release and its compiled files in its name.
        "site": str(side.env.site),
        # Named after all that went into it.
        "base": side.env.base,
        "shims": side.env.shims,
        "given": side.env.given,
        "environ": {name: whole[name] for name in sorted(whole) if heard(name)},
        "model": model,
        "arm": settings(arm),
    }
    return hashlib.sha256(json.dumps(stated, sort_keys=True).encode()).hexdigest()


def heard(name: str) -> bool:
    """Whether a variable that reaches an engine may change what it computes."""
    return name in HEARD_WHOLE or name.startswith(HEARD)


def settings(arm: Arm) -> dict[str, object]:
    """State an arm without the folder that its run keeps files in."""
    engine = dict(arm.engine)
    if isinstance(named := engine.get(BOOT_MAP), str):
        engine[BOOT_MAP] = Path(named).name
    maps = Path(arm.maps).name if arm.maps else None
    return {**asdict(arm), "engine": engine, "keeps": bool(arm.keeps), "maps": maps}


def driver(folder: Path = DRIVER) -> str:
    """SHA-256 of the code that boots engines and asks them: this version of lanewright's."""
    found = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            content = file.read_bytes()
            found.update(f"{file.relative_to(folder)} {len(content)}\n".encode())
            found.update(content)
    return found.hexdigest()
