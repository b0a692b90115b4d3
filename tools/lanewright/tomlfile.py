"""TOML files that people write, read into typed values."""

import tomllib
from pathlib import Path
from typing import TypeVar

import msgspec

from lanewright.errors import LanewrightError

MOST_BYTES = 100_000
SERIES_KEYS = "README.md lists the keys under “A lane of your own”"
T = TypeVar("T")


def load(path: Path, kind: type[T], *, keys: str = SERIES_KEYS) -> T:
    """Read a TOML file.

    Args:
        path: The file.
        kind: What it is.
        keys: Where its keys are listed.

    Raises:
        LanewrightError: It cannot be read, is no TOML, or lacks or has a key that it should not;
            the message names the file and the key.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise LanewrightError(f"{path} is larger than any file that people write")
        content = path.read_bytes()
    except OSError as error:
        raise LanewrightError(f"cannot read {path}: {error.strerror}") from error
    return loads(content, path, kind, keys=keys)


def loads(content: bytes, path: Path, kind: type[T], *, keys: str = SERIES_KEYS) -> T:
    """Read what a TOML file holds, or will hold.

    Raises:
        LanewrightError: As ``load`` says.
    """
    try:
        return msgspec.convert(tomllib.loads(content.decode()), kind, str_keys=True)
    except msgspec.ValidationError as error:
        raise LanewrightError(f"{path}: {error}", hint=keys) from error
    except (ValueError, RecursionError) as error:
        raise LanewrightError(f"{path} is no valid TOML: {error}") from error
