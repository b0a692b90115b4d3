"""What a machine's devices are, what they are used for, and how much of their memory is free."""

import shutil
import subprocess
from pathlib import Path

from expert_bank.proc import sizes_of, text_of
from lanewright.project import Device

MIB = 2**20
MEMINFO = Path("/proc/meminfo")


def gpus() -> list[str]:
    """What the machine's GPUs are called; none where it has none, or their driver is gone."""
    try:
        return _asked("--query-gpu=name")
    except (OSError, subprocess.TimeoutExpired):
        return []


def users(device: Device) -> list[str]:
    """What computes on the machine's GPUs: process numbers and names, as their driver tells them."""
    if device == "cpu":
        return []
    return _asked("--query-compute-apps=pid,process_name")


def free_bytes(device: Device) -> int:
    """Free memory, in bytes: of the GPU that has least of it, or the machine's own.

    Raises:
        OSError: It cannot be told.
    """
    if device == "cpu":
        # What files are cached in is given back to whoever asks.
        return sizes_of(text_of(MEMINFO) or "").get("MemAvailable", 0)
    told = [int(each) for each in _asked("--query-gpu=memory.free") if each.isdecimal()]
    if not told:
        raise OSError("nvidia-smi tells of no free memory")
    return min(told) * MIB


def _asked(query: str) -> list[str]:
    program = shutil.which("nvidia-smi")
    if program is None:
        raise OSError("nvidia-smi is not on PATH")
    command = [program, query, "--format=csv,noheader,nounits"]
    asked = subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=60, check=False
    )
    if asked.returncode:
        raise OSError(f"nvidia-smi ended with {asked.returncode}: {asked.stderr.strip()}")
    return [line.strip() for line in asked.stdout.splitlines() if line.strip()]
