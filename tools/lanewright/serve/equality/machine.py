"""What of this machine may change the last bits of an answer."""

import os
import platform
from pathlib import Path

PROC = Path("/proc")
# Of /proc/cpuinfo, x86-64's names and aarch64's: what kind of CPU it is and what it can do, and not
# how fast it runs just now.
KIND = frozenset(
    {
        "CPU architecture",
        "CPU implementer",
        "CPU part",
        "CPU revision",
        "CPU variant",
        "Features",
        "cpu family",
        "flags",
        "model",
        "model name",
        "stepping",
        "vendor_id",
    }
)


def machine(proc: Path = PROC) -> dict[str, object]:
    """State the CPU, the cores that this process may use, and the GPUs with their driver.

    A host's name is left out: a container is given another whenever it is made again.

    Args:
        proc: Where the kernel tells of itself.
    """
    gpus = sorted(proc.glob("driver/nvidia/gpus/*/information"))
    return {
        "architecture": platform.machine(),
        "cpus": sorted({line for line in _lines(proc / "cpuinfo") if _name(line) in KIND}),
        # Threads share a sum, so their number is part of it; which they are decides on the node
        # and, where cores are of two kinds, on the kernels.
        "cores": sorted(os.sched_getaffinity(0)),
        "gpus": [line for file in gpus for line in _lines(file) if _name(line) == "Model"],
        "driver": _lines(proc / "driver" / "nvidia" / "version"),
    }


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(errors="replace").splitlines()
    except OSError:
        return []


def _name(line: str) -> str:
    return line.partition(":")[0].strip()
