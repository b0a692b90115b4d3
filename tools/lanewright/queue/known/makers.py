"""What makes a result out of an entry: Python, git, and our own code."""

import hashlib
import sys
from functools import lru_cache
from pathlib import Path

from lanewright.store.git import Repository

PACKAGE = Path(__file__).parents[2]


@lru_cache(maxsize=4)
def makers(repository: Repository) -> tuple[str, ...]:
    """Versions of what a result depends on beside its input, our own by content.

    Raises:
        GitError: There is no git.
        OSError: Our own code cannot be read.
    """
    git = repository.run("version").stdout.decode()
    own = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        content = path.read_bytes()
        own.update(f"{path.relative_to(PACKAGE)} {len(content)}\n".encode())
        own.update(content)
    return sys.version, git, own.hexdigest()
