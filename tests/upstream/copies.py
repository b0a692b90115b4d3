"""Cheap copies of stores and repositories, one for each test."""

import os
import shutil
from pathlib import Path

from tests.upstream.diff import git

LASTING = {".pack", ".idx", ".rev"}


def pack(repository: Path) -> None:
    """Put a bare repository's objects into one file, so that a copy of it has few."""
    git(repository, "--git-dir=.", "repack", "-adq")
    git(repository, "--git-dir=.", "prune-packed", "--quiet")


def copied(folder: Path, place: Path) -> Path:
    """A copy; files that nothing ever writes into are shared."""

    def copy(source: str, target: str) -> None:
        if Path(source).suffix in LASTING:
            os.link(source, target)
        else:
            shutil.copy2(source, target)

    return Path(shutil.copytree(folder, place, copy_function=copy))
