"""One writer of the store at a time, and what a killed writer left behind."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.store.git import Repository, create
from lanewright.store.holder import holder_of, told_beside
from lanewright.store.memo import Memo
from lanewright.store.scratch import clear_dead
from lanewright.terminal import say


@contextmanager
def writing(places: Places) -> Iterator[Repository]:
    """Hold the store for writing refs; waits for another run, and says so.

    Raises:
        LanewrightError: The store's folder cannot be made.
        OSError: It cannot be written.
    """
    with held(places.store / "store.lock", f"writes to {places.store}"):
        _clear_leftovers(places.objects)
        for folder in (places.incoming, places.bundles, Memo(places.known).making):
            clear_dead(folder)
        yield create(places.objects)


@contextmanager
def held(file: Path, what: str, *, lane: str | None = None) -> Iterator[None]:
    """Hold a lock file; waits for another run, and says what that is doing.

    Args:
        file: The lock.
        what: What is done meanwhile, for those who wait.
        lane: For which lane, or lanes with commas between, which they are told with the process and
            its time; empty for none, None where they are told nothing.

    Raises:
        LanewrightError: The file's folder cannot be made.
        OSError: The file cannot be written.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415 - 100 ms that a reader need not pay

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LanewrightError(
            f"cannot make the folder {file.parent}: {error.strerror}",
            hint="name a folder that can be written in LANEWRIGHT_STORE",
        ) from error
    lock = FileLock(file)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        who = holder_of(file)
        say(f"waiting for another lanewright that {what}{f': {who}' if who else ''}")
        lock.acquire()
    try:
        with nullcontext() if lane is None else told_beside(file, lane):
            yield
    finally:
        lock.release()


def _clear_leftovers(repository: Path) -> None:
    """Remove what a writer that was killed could not.

    Refs are only written under the store's lock, so a ``*.lock`` seen by its holder is stale.
    """
    stale = [*repository.glob("*.lock"), *(repository / "refs").rglob("*.lock")]
    for path in stale:
        path.unlink(missing_ok=True)
    packs = repository / "objects" / "pack"
    for pack in (*packs.glob("tmp_*"), *packs.glob("*.lock")):
        pack.unlink(missing_ok=True)
    for crash in repository.glob("fast_import_crash_*"):
        crash.unlink(missing_ok=True)
