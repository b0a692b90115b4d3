"""Diffs of many pairs of trees by one git: a start for each would cost more than the diff."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from lanewright.store.git import Repository, no_git, trace
from lanewright.store.objects import TreeId

# git gives back a line that begins with no object id, and has then told all before it. No line of
# a patch begins so.
DONE = b"=\n"
CHUNK = 2**16


class _Differ:
    """A git that waits for pairs of trees."""

    def __init__(self, repository: Repository, flags: tuple[str, ...]) -> None:
        self._arguments = ("diff-tree", "--stdin", *flags)
        try:
            self._process = subprocess.Popen(
                repository.command(*self._arguments),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                cwd=repository.path,
                env=repository.environment(),
            )
        except OSError as error:
            raise no_git(error) from error

    def diff(self, before: TreeId, after: TreeId) -> bytes | None:
        """What it says of two trees; None where it cannot."""
        start = time.monotonic()
        head = f"{before} {after}\n".encode()
        given, taken = self._process.stdin, self._process.stdout
        if given is None or taken is None or given.closed:
            return None
        try:
            given.write(head + DONE)
        except BrokenPipeError:
            return None
        parts, end = [], b"\n"
        while not end.endswith(b"\n" + DONE):
            part = taken.read(CHUNK)
            if not part:
                return None
            parts.append(part)
            end = (end + part)[-len(DONE) - 1 :]
        trace((*self._arguments, before, after), 0, since=start)
        said = b"".join(parts)
        return said[len(head) : -len(DONE)] if said.startswith(head) else None

    def close(self) -> None:
        # With its input closed it ends by itself.
        self._process.communicate()


_open = ContextVar[dict[tuple[Repository, tuple[str, ...]], _Differ] | None]("_open", default=None)


@contextmanager
def diffing() -> Iterator[None]:
    """Keep one git for each kind of diff while the block runs; inside of another, that one's."""
    if _open.get() is not None:
        yield
        return
    differs: dict[tuple[Repository, tuple[str, ...]], _Differ] = {}
    token = _open.set(differs)
    try:
        yield
    finally:
        _open.reset(token)
        for each in differs.values():
            each.close()


def diff_of(repository: Repository, before: TreeId, after: TreeId, *flags: str) -> bytes:
    """What ``git diff-tree`` prints of two trees.

    Args:
        repository: The store.
        before: The one.
        after: The other.
        flags: Of ``git diff-tree``.

    Raises:
        GitError: An object is missing, or git.
    """
    differs, key, said = _open.get(), (repository, flags), None
    if differs is not None:
        if key not in differs:
            differs[key] = _Differ(repository, flags)
        said = differs[key].diff(before, after)
    # One for itself says what is wrong.
    return repository.run("diff-tree", *flags, before, after).stdout if said is None else said
