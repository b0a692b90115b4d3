"""A folder on a disk for the file of cold rows, and scripts that use one as a process of their own."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import expert_bank
from expert_bank.cold_file import ColdFile
from expert_bank.cold_folder import FOLDER, USUAL
from expert_bank.refused import Refused

OVERLAY = Path(expert_bank.__file__).parents[1]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """An empty one; temporary files of tests may well be in memory."""
    with TemporaryDirectory(dir=os.environ.get(FOLDER) or USUAL) as name:
        try:
            ColdFile(Path(name))
        except Refused as why:
            pytest.skip(f"set {FOLDER} to a folder on a disk: {why}")
        yield Path(name)


def started(script: str, *arguments: object, before: Sequence[str] = ()) -> subprocess.Popen[str]:
    """Start a script that may import the package, behind the words of another command."""
    whole = f"import sys\nsys.path.insert(0, {str(OVERLAY)!r})\n{script}"
    command = [*before, sys.executable, "-c", whole, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def told(script: str, *arguments: object, before: Sequence[str] = ()) -> list[str]:
    """Run one to its end; the lines that it printed."""
    with started(script, *arguments, before=before) as running:
        out, _ = running.communicate(timeout=60)
    assert running.returncode == 0, out
    return out.splitlines()
