"""How a comparison is asked for, by default one that takes nothing of an earlier one."""

from pathlib import Path

from lanewright.serve.equality.earlier import Resuming

TREE = "0123456789abcdef0123456789abcdef01234567"


def fresh(folder: Path, *, asked: bool = False) -> Resuming:
    """The first run below a folder."""
    return Resuming(
        runs=folder / "runs",
        tree=TREE,
        model="1" * 64,
        asked=asked,
        command="lanewright equal sample --resume",
    )
