"""Lines for sh that people write in TOML files."""

from lanewright.errors import LanewrightError
from lanewright.invisible import CONTROL, named


def require_line(line: str, place: str) -> None:
    """Refuse what no line for sh, and no path, has; tabs and new lines may be in one.

    Args:
        line: The line.
        place: File and key, for the message.

    Raises:
        LanewrightError: It has a control character.
    """
    if found := CONTROL.search(line):
        raise LanewrightError(f"{place}: {line!r} has a character of no text: {named(found[0])}")
