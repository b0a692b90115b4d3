"""An overlay's files in one line, so that what needs a person is not buried under them."""

from collections.abc import Iterable
from posixpath import commonpath

from lanewright.report.outcome import counted


def folded(files: Iterable[str]) -> str:
    """Files by the folder that they lie in, e.g. ``expert_bank: 168 files, a.dist-info: 3 files``.

    Args:
        files: Their paths in the lane's tree; those with one first folder are told together, below
            the deepest folder that has all of them, and a single one by its path.
    """
    roots: dict[str, list[str]] = {}
    for path in files:
        roots.setdefault(path.partition("/")[0], []).append(path)
    return ", ".join(
        # What a file of another's says may be no path below a tree.
        f"{commonpath(found) if root else '/'}: {counted(len(found), 'file')}"
        if len(found) > 1
        else found[0]
        for root, found in sorted(roots.items())
    )
