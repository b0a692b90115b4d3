"""The compiled ops that a change binds, where vLLM binds them: ``csrc/**/torch_bindings.cpp``."""

import re
from collections.abc import Iterable

from lanewright.store.git import Repository
from lanewright.store.objects import File, read_blobs

DEFINED = re.compile(rb"""\.def\(\s*"(\w+)""")
COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)


def is_binding(path: str) -> bool:
    """Whether a file binds ops."""
    return path.startswith("csrc/") and path.endswith("/torch_bindings.cpp")


def bound_ops(
    repository: Repository, changed: Iterable[tuple[File | None, File | None]]
) -> tuple[str, ...]:
    """Names that these files bind after a change, and none of them before.

    Args:
        repository: The store, with their contents.
        changed: Each file on both sides.
    """
    both = list(changed)
    before, after = (_ops(repository, [side[at] for side in both]) for at in (0, 1))
    return tuple(sorted(after - before))


def _ops(repository: Repository, sides: Iterable[File | None]) -> set[str]:
    texts = read_blobs(repository, [side.blob for side in sides if side]).values()
    return {name.decode() for text in texts for name in DEFINED.findall(COMMENT.sub(b"", text))}
