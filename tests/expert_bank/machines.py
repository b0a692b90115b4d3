"""What machines' kernels say in ``/proc`` and ``/sys``, written below a root of a test's own."""

from collections.abc import Mapping
from pathlib import Path

GIB = 2**30
KIB_OF_GIB = 2**20


def node(number: int, cpus: str, gib: int, free: int = 0, cache: int = 0) -> dict[str, str]:
    """The files of one NUMA node; sizes in GiB."""
    folder = f"sys/devices/system/node/node{number}"
    fields = {"MemTotal": gib, "MemFree": free, "Active(file)": 0, "Inactive(file)": cache}
    lines = [
        f"Node {number} {name + ':':<15} {count * KIB_OF_GIB:>8} kB\n"
        for name, count in fields.items()
    ]
    return {
        f"{folder}/cpulist": f"{cpus}\n",
        f"{folder}/meminfo": "".join(lines) + f"Node {number} HugePages_Total:     0\n",
    }


# As lscpu shows a GH200: 72 CPUs on node 0, the HBM as node 1, and seven nodes kept for MIG
# (bytedance/xpu-perf#129); MemAvailable holds the HBM too.
GRACE = {
    **node(0, "0-71", 494, free=380, cache=60),
    **node(1, "", 95, free=90),
    **{name: text for number in range(2, 9) for name, text in node(number, "", 0).items()},
    "sys/devices/system/node/has_cpu": "0\n",
    "sys/devices/system/node/possible": "0-8\n",
    "proc/meminfo": (
        f"MemTotal:       {589 * KIB_OF_GIB} kB\n"
        f"MemFree:        {470 * KIB_OF_GIB} kB\n"
        f"MemAvailable:   {530 * KIB_OF_GIB} kB\n"
        "HugePages_Total:       0\n"
    ),
    # The bank, 128 GiB in pages of 64 KiB, between its guards.
    "proc/self/numa_maps": (
        "aaaadf400000 default file=/usr/bin/python3.12 mapped=48 N0=48 kernelpagesize_kB=64\n"
        "ffd000000000 bind:0\n"
        "ffd000010000 bind:0 anon=2097152 dirty=2097152 active=0 N0=2097152 kernelpagesize_kB=64\n"
        "fff000010000 bind:0\n"
        "fffff7a00000 default stack anon=3 dirty=3 N0=3 kernelpagesize_kB=64\n"
    ),
}
GRACE_BANK = (0xFFD000010000, 128 * GIB)

# Two Graces on a board, each with two GPUs (ishandhanani/srt-slurm#164).
BOARD = {
    **node(0, "0-71", 494),
    **node(1, "72-143", 494),
    **{name: text for each in (2, 10, 18, 26) for name, text in node(each, "", 250).items()},
}

# Read on an x86-64 machine of one node: three mappings of 10 MiB + 1 byte, the last untouched.
PLAIN = {
    **node(0, "0-1", 11, free=8, cache=1),
    "proc/self/numa_maps": (
        "55d957c4e000 default file=/usr/bin/head mapped=2 N0=2 kernelpagesize_kB=4\n"
        "7f74e3aa8000 default\n"
        "7f74e3aa9000 default anon=2561 dirty=2561 active=0 N0=2561 kernelpagesize_kB=4\n"
        "7f74e44aa000 default\n"
        "7f74e44ab000 bind:0 anon=2561 dirty=2561 active=0 N0=2561 kernelpagesize_kB=4\n"
        "7f74e4eac000 bind:0\n"
        "7f74e4ead000 bind:0\n"
    ),
}
PLAIN_BANK = (0x7F74E3AA9000, 2561 * 4096)


def written(root: Path, files: Mapping[str, str]) -> Path:
    """Write a machine's files below a root."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())
    return root
