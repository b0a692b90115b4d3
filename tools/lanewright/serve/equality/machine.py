"""What of this machine may change the last bits of an answer."""

import os
import platform
from pathlib import Path

from lanewright.project import Device

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
# Of these: what a person calls it, and what tells apart CPUs of one name, as virtual machines have.
NAMED = "model name"
NUMBERED = KIND - {NAMED, "flags", "Features", "vendor_id", "CPU architecture"}


def machine(proc: Path = PROC) -> dict[str, object]:
    """State the CPU, the cores that this process may use, and the GPUs with their driver.

    A host's name is left out: a container is given another whenever it is made again.

    Args:
        proc: Where the kernel tells of itself.
    """
    return {
        "architecture": platform.machine(),
        "cpus": sorted({line for line in _lines(proc / "cpuinfo") if _name(line) in KIND}),
        # Threads share a sum, so their number is part of it; which they are decides on the node
        # and, where cores are of two kinds, on the kernels.
        "cores": sorted(os.sched_getaffinity(0)),
        "gpus": _gpus(proc),
        "driver": _lines(proc / "driver" / "nvidia" / "version"),
    }


def hardware(device: Device, proc: Path = PROC) -> str:
    """Name what speed depends on, e.g. ``x86_64, AMD EPYC 7B13, cpu family 25, model 1, 2 cores``.

    What a kernel's update may change, as flags and drivers, is left out: a machine stays the same.

    Args:
        device: On a CPU, GPUs that are there too say nothing of its speed.
        proc: Where the kernel tells of itself.
    """
    cpus = {_name(line): _value(line) for line in _lines(proc / "cpuinfo") if _name(line) in KIND}
    named = [cpus[NAMED]] if NAMED in cpus else []
    named += [f"{name} {cpus[name]}" for name in sorted(NUMBERED & cpus.keys())]
    cores = len(os.sched_getaffinity(0))
    gpus = _gpus(proc) if device != "cpu" else []
    told = [platform.machine(), *named, f"{cores} core{'s' * (cores > 1)}", *map(_value, gpus)]
    return ", ".join(told)


def _gpus(proc: Path) -> list[str]:
    """What the driver calls each GPU, a line each."""
    files = sorted(proc.glob("driver/nvidia/gpus/*/information"))
    return [line for file in files for line in _lines(file) if _name(line) == "Model"]


def _value(line: str) -> str:
    return " ".join(line.partition(":")[2].split())


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(errors="replace").splitlines()
    except OSError:
        return []


def _name(line: str) -> str:
    return line.partition(":")[0].strip()
