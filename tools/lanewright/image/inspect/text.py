"""An image's own account of itself, for people and for programs."""

from collections.abc import Iterator

from lanewright.image.inspect.labels import Told, short
from lanewright.image.inspect.seen import Seen, SeenLayer
from lanewright.image.stamps import ToldEntry

MIB = 2**20


def lines(image: Seen, told: Told, entries: list[ToldEntry]) -> Iterator[str]:
    """What people read, line by line."""
    yield f"lane {told.lane}" + (f", version {told.version}" if told.version else "")
    yield f"  pin       {told.pin}, commit {told.commit}, tree {told.pin_tree}"
    yield f"  tree      {told.tree}"
    yield f"  lock      {told.lock}"
    yield f"  base      {_base(told)}"
    if told.foreign_revision:
        yield f"  revision  {short(told.foreign_revision)} is its base's, and not that of the pin"
    yield f"  created   {image.created or 'not said'}"
    yield f"  platform  {image.platform}"
    yield f"  image     {image.digest or 'no manifest in this form of archive'}, id {image.id}"
    yield f"  size      {image.size / MIB:,.1f} MiB in {_count(len(image.layers), 'layer')}"
    for layer in image.layers:
        own = "  the lane's" if layer.diff_id == told.layer else ""
        yield f"    {layer.digest}  {layer.size / MIB:,.1f} MiB{own}"
    yield f"  carries   {_count(len(entries), 'entry', 'entries')}"
    for entry in entries:
        yield from _entry(entry)


def _base(told: Told) -> str:
    if not told.base:
        return "none: the layer alone"
    return f"{told.base_name} ({told.base})" if told.base_name else told.base


def _entry(entry: ToldEntry) -> Iterator[str]:
    kind = f"pull request {entry.pull}" if entry.pull is not None else entry.kind
    head = f" at {entry.head}" if entry.head else ""
    base = f", made on {entry.base}" if entry.base else ""
    yield f"  {entry.name}: {kind}{head}{base}"
    yield f"    sha256 {entry.digest}"
    if entry.claims:
        yield f"    claims {', '.join(entry.claims)}"
    if entry.kind == "overlay":
        yield f"    {_count(entry.files, 'file')}"
    else:
        total = sum(map(len, entry.hunks.values()))
        by = ", ".join(f"{len(ids)} {outcome}" for outcome, ids in entry.hunks.items())
        yield f"    {_count(total, 'hunk')}" + (f": {by}" if by else "")
    for outcome, ids in entry.hunks.items():
        yield f"      {outcome}: {', '.join(ids)}"
    if entry.left:
        yield f"    left: {', '.join(f'{many} {outcome}' for outcome, many in entry.left.items())}"
    for fix in entry.fixes:
        yield f"    fix of {fix.path}: {fix.state}, sha256 {fix.digest}"


def data(image: Seen, told: Told, entries: list[ToldEntry]) -> dict[str, object]:
    """What programs read: all of it, and the labels themselves."""
    return {
        "place": image.place,
        "lane": told.lane,
        "version": told.version,
        "pin": {"ref": told.pin, "commit": told.commit, "tree": told.pin_tree},
        "tree": told.tree,
        "lock": told.lock,
        "layer": told.layer,
        "site_packages": told.site_packages,
        "base": {"name": told.base_name, "digest": told.base} if told.base else None,
        "created": image.created,
        "platform": image.platform,
        "image": image.digest or None,
        "id": image.id,
        "size": image.size,
        "layers": [_layer(layer, told) for layer in image.layers],
        "entries": entries,
        "labels": image.labels,
    }


def _layer(layer: SeenLayer, told: Told) -> dict[str, object]:
    own = layer.diff_id == told.layer
    return {"digest": layer.digest, "diff_id": layer.diff_id, "size": layer.size, "lane": own}


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"
