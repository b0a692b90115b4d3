"""Who else changed the files that an entry changes."""

from collections.abc import Mapping, Sequence

from lanewright.queue.merge.units import OnBase
from lanewright.queue.pin import Pin
from lanewright.store.objects import File


def causes_of(
    on_base: OnBase,
    upstream: Mapping[str, File],
    pin: Pin,
    touched: Mapping[str, Sequence[str]],
) -> dict[str, str]:
    """Per path, who changed it since the entry's base: upstream, earlier entries, or both.

    Args:
        on_base: The entry's change.
        upstream: The changed files as the pin has them.
        pin: What the lane stands on.
        touched: Per path, the earlier entries that changed it.
    """
    causes = {}
    for path, base in on_base.sides.items():
        who = []
        if upstream.get(path) != base:
            who.append(f"upstream between {on_base.base_name} and {pin.ref}")
        who += [f"the entry {name}" for name in touched.get(path, ())]
        what = "changed" if path in upstream or base is None else "removed"
        causes[path] = f"{path} was {what} by {' and '.join(who)}" if who else ""
    return causes
