"""Names of what stands in for what a machine lacks; ``inside/shims`` has the shims themselves."""

from collections.abc import Sequence
from pathlib import Path

from lanewright.errors import LanewrightError

FOLDER = Path(__file__).parent / "inside" / "shims"


def known_shims() -> tuple[str, ...]:
    """Name every shim, in alphabetical order."""
    files = sorted(FOLDER.glob("[a-z]*.py"))
    return tuple(file.stem.replace("_", "-") for file in files)


def check_shims(names: Sequence[str], place: str) -> tuple[str, ...]:
    """Check the shims that a series names.

    Args:
        names: In the order they are applied.
        place: Where they are named, for messages.

    Returns:
        The same.

    Raises:
        LanewrightError: There is no such shim, or one is named twice.
    """
    known = known_shims()
    for number, name in enumerate(names):
        if name not in known:
            raise LanewrightError(
                f"{place}: no shim {name!r}; known: {', '.join(known)}",
                hint="name a known one, or take it out",
            )
        if name in names[:number]:
            raise LanewrightError(f"{place}: shim {name!r} is named twice", hint="name it once")
    return tuple(names)
