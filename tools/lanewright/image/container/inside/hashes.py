"""sha256 of files, one JSON object on standard output: ``hashes.py LIST``, a JSON list of paths.

Run by path with a container's Python. A path that is not there has null, a link its target.
"""

import hashlib
import json
import os
import sys
from pathlib import Path


def main(names: str) -> None:
    """Print what is at each path."""
    found = {path: at(path) for path in json.loads(Path(names).read_text())}
    print(json.dumps(found))


def at(path: str) -> str | None:
    """Digest of a file's content, or ``->`` and a link's target."""
    if os.path.islink(path):  # noqa: PTH114 - a path of bytes that are no UTF-8, too
        return f"->{os.readlink(path)}"  # noqa: PTH115
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return None


if __name__ == "__main__":
    main(*sys.argv[1:])
