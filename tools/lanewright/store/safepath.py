"""Which paths a tree of ours may hold; refused in the model, before a file is touched."""

import re

from lanewright.errors import LanewrightError

ODD = re.compile(r"[\x00-\x1f\x7f\\\ud800-\udfff]")


class UnsafePathError(LanewrightError):
    """A path that would leave the tree, or that git or a filesystem would read as another."""


def check(path: str, *, source: str) -> str:
    """Give the path back if it is safe.

    Args:
        path: Relative path with ``/`` between its parts.
        source: Where it was read, for the message.

    Raises:
        UnsafePathError: Empty, absolute, with ``..``, a ``.git`` part in any case, a trailing
            dot or space, a backslash, a control character or a byte that is no UTF-8.
    """
    rule = _broken_rule(path)
    if rule:
        raise UnsafePathError(f"{source}: the path {path!r} {rule}")
    return path


def _broken_rule(path: str) -> str | None:
    if not path or path.startswith("/"):
        return "is empty or absolute"
    if ODD.search(path):
        return "holds a backslash, a control character or a byte that is no UTF-8"
    for part in path.split("/"):
        if part in {"", ".", ".."}:
            return f"has the part {part!r}"
        if part.rstrip(". ").lower() in {".git", "git~1"}:
            return "reaches into git's own folder"
        if part.endswith((".", " ")):
            return f"has the part {part!r} with a trailing dot or space"
    return None
