"""Symlinks of a lane's tree: where they may lead."""

from lanewright.queue.merge.gates import GateError
from lanewright.store.safepath import ODD

UP = ".."


def check_link(path: str, target: bytes) -> None:
    """Check that a symlink stays below the top folder that it is in, whatever else is a link.

    Only its first parts may lead up: the folders that hold it are real ones, so these say where it
    comes to. Where all links of a tree are such, no chain of them leaves it either; a ``..`` after
    a name might lead up from wherever that name leads.

    Args:
        path: Its path in the lane's tree.
        target: What it holds.

    Raises:
        GateError: It is empty, absolute or odd, or leaves the folder.
    """
    text = target.decode("utf-8", "surrogateescape")
    top = path.partition("/")[0]
    parts = text.split("/")
    up = next((number for number, part in enumerate(parts) if part != UP), len(parts))
    if not text or ODD.search(text):
        raise GateError(f"{path}: a symlink to {text!r}, which is no path that a tree may name")
    if text.startswith("/") or up >= path.count("/") or UP in parts[up:]:
        raise GateError(f"{path}: a symlink to {text!r}, which may lead out of {top}/")
