"""Files of nights and runs, read with no trust in what lies there."""

from pathlib import Path
from typing import TypeVar

import msgspec

from lanewright.store.regular import read_regular

# Bytes. A record has some hundred thousand, the answers of an arm some millions.
MOST = 2**26
T = TypeVar("T")


class DamagedError(Exception):
    """A file that is not what its place says; it is told, and passed over."""


def read_file(file: Path) -> bytes:
    """Read a file.

    Raises:
        DamagedError: There is none, it is a link or no regular file, or it is far too large.
    """
    content = read_regular(file, MOST)
    if content is None:
        raise DamagedError("it is no regular file that can be read, or far too large")
    return content


def decoded(content: bytes, kind: type[T]) -> T:
    """Read JSON of a known form.

    Raises:
        DamagedError: It is another one, or none; the message names the key.
    """
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise DamagedError(str(error)) from error
