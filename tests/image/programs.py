"""Programs that others wrote, as the image tier calls them."""

import shutil
import subprocess

import pytest


def program(name: str) -> str:
    """Where it is; the test is skipped where it is not."""
    return shutil.which(name) or pytest.skip(f"{name} is not installed")


def output(*command: str) -> str:
    """What a command prints; it must succeed."""
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()
