"""A machine's lock in others' hands, by flock(1)."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def is_free(lock: Path) -> bool:
    """Whether flock(1) would get it."""
    return subprocess.run(["flock", "--nonblock", lock, "true"], check=False).returncode == 0


@contextmanager
def in_others_hands(lock: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Have it locked by a process that holds it until its input ends, as it does behind the block."""
    held = subprocess.Popen(
        ["flock", lock, "sh", "-c", "echo has it; read -r line"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert held.stdout
    assert held.stdout.readline() == b"has it\n"
    try:
        yield held
    finally:
        held.communicate()
