"""Compile every Python file below some folders: ``python3 compiling.py FOLDER...``, in an image.

Each compiled file has its source's hash, for a layer has other times than its files had, and one
whose source was patched must not be taken.
"""

import py_compile
import sys
from pathlib import Path

MODE = py_compile.PycInvalidationMode.CHECKED_HASH


def main(folders: list[str]) -> None:
    """Compile, always in the same order; what is written for another Python is passed over."""
    for folder in folders:
        for file in sorted(Path(folder).rglob("*.py")):
            try:
                py_compile.compile(str(file), doraise=True, invalidation_mode=MODE)
            except py_compile.PyCompileError as error:
                print(f"left as it is: {error.file}", file=sys.stderr)  # noqa: T201 - run by path


if __name__ == "__main__":
    main(sys.argv[1:])
