"""Who else changed the files that an entry changes."""

from collections.abc import Mapping, Sequence

from lanewright.queue.pin import Pin
from lanewright.queue.units import OnBase
from lanewright.store.git import Repository
from lanewright.store.objects import files


def causes_of(
    repository: Repository, on_base: OnBase, pin: Pin, touched: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Per path, who changed it since the entry's base: upstream, earlier entries, or both."""
    upstream = files(repository, pin.tree, on_base.sides)
    causes = {}
    for path, base in on_base.sides.items():
        who = []
        if upstream.get(path) != base:
            who.append(f"upstream between {on_base.base_name} and {pin.ref}")
        who += [f"the entry {name}" for name in touched.get(path, ())]
        what = "changed" if path in upstream or base is None else "removed"
        causes[path] = f"{path} was {what} by {' and '.join(who)}" if who else ""
    return causes
