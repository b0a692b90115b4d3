"""Whether two locks say the same."""

import msgspec

from lanewright.errors import MismatchError
from lanewright.queue.lock import Lock


def require_same(old: Lock, new: Lock) -> None:
    """Compare a lock with what its inputs give now.

    Raises:
        MismatchError: They differ; the message names the first value that does.
    """
    # Their seals differ where anything does, and say nothing of what.
    bare = [msgspec.to_builtins(msgspec.structs.replace(lock, seal="")) for lock in (old, new)]
    found = first_difference(*bare)
    if found:
        place, locked, now = found
        raise MismatchError(
            f"lane {old.lane}: the lock says {place} = {locked}, but applying its series gives {now}",
            hint="either another lanewright or git wrote the lock, or the store's releases are not"
            f" those it was made from; if this is the right one, remove {old.lane}.lock and run"
            f" `lanewright build {old.lane}`",
        )


def first_difference(old: object, new: object, place: str = "lock") -> tuple[str, str, str] | None:
    """Where two JSON values first differ, and what each has there."""
    if isinstance(old, dict) and isinstance(new, dict):
        pairs = [(f"{place}.{key}", old.get(key), new.get(key)) for key in {**old, **new}]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = [(f"{place}[{n}]", a, b) for n, (a, b) in enumerate(zip(old, new, strict=True))]
    else:
        return None if old == new else (place.removeprefix("lock."), repr(old), repr(new))
    return next(filter(None, (first_difference(a, b, name) for name, a, b in pairs)), None)
