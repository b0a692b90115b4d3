"""Commands that a runner of GitHub Actions reads out of what a step prints, and words that are none."""

import os
import re

from lanewright.invisible import visible

# A line that begins so, behind any blanks, is one; and one of the older form is, wherever it stands
# in a line. https://github.com/actions/runner, src/Runner.Common/ActionCommand.cs
AT_FRONT = re.compile(r"^([^\S\n]*)::", re.MULTILINE)
OLDER = "##["


def on_github() -> bool:
    """Whether a runner reads what is printed."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def harmless(text: str) -> str:
    """Text of which a runner takes nothing for a command; the same elsewhere."""
    if not on_github():
        return text
    return AT_FRONT.sub(r"\1\\::", text).replace(OLDER, "#\\#[")


def harmless_json(text: str) -> str:
    """The same of JSON, which stays what it is: it has such words in strings alone."""
    return text.replace(OLDER, "#\\u0023[") if on_github() else text


def command(level: str, file: str, line: int, title: str, said: str) -> str:
    """An annotation of a file, in one line.

    Args:
        level: ``error``, ``warning`` or ``notice``.
        file: Below the repository's root.
        line: From 1.
        title: In bold.
        said: Its words.
    """
    return f"::{level} file={_value(file)},line={line},title={_value(title)}::{_message(said)}"


def _message(text: str) -> str:
    """Text so that no part of it is another command; what else ends a line is written out."""
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
