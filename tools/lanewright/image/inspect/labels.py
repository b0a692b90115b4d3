"""What a lane's image says of itself, as typed values; who wrote its labels is not known."""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from lanewright.errors import LanewrightError
from lanewright.image.oci import Digest
from lanewright.image.stamps import BASE_DIGEST, PREFIX, REVISION, ToldEntry, told_entries
from lanewright.invisible import visible

# Of one label; those of a lane with hundreds of hunks are a few dozen KiB.
MOST_LABEL = 2**20
MOST_COUNT = 2**53
SHOWN = 80
ORIGIN = (
    "org.opencontainers.image.title",
    "org.opencontainers.image.vendor",
    "org.opencontainers.image.source",
    "org.opencontainers.image.authors",
    "maintainer",
    "vendor",
    "name",
)
Line = Annotated[str, msgspec.Meta(max_length=512, pattern=r"^[^\x00-\x1f\x7f-\x9f]*\Z")]
ObjectId = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{40}\Z")]
Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """A lane's labels.

    Attributes:
        lane: Its name.
        version: What vLLM calls itself; empty where no layer changes that.
        pin: As the series has it.
        commit: The pin's.
        pin_tree: The pin's.
        tree: The lane's.
        lock: Seal of its lock.
        layer: Digest of the lane's layer; empty for an image that has none.
        site_packages: Where that layer has its files.
        base_name: Of the image that it stands on; empty where it stands on another than the lock's.
        base: That image's digest; empty for the layer alone.
        revision: Of its source, as it says; empty where it says none.
    """

    lane: Line = msgspec.field(name=f"{PREFIX}lane")
    version: Line = msgspec.field(name="org.opencontainers.image.version", default="")
    pin: Line = msgspec.field(name=f"{PREFIX}pin")
    commit: ObjectId = msgspec.field(name=f"{PREFIX}pin.commit")
    pin_tree: ObjectId = msgspec.field(name=f"{PREFIX}pin.tree")
    tree: ObjectId = msgspec.field(name=f"{PREFIX}tree")
    lock: Sha256 = msgspec.field(name=f"{PREFIX}lock")
    layer: Digest | None = msgspec.field(name=f"{PREFIX}layer", default=None)
    site_packages: Line = msgspec.field(name=f"{PREFIX}site-packages", default="")
    base_name: Line = msgspec.field(name="org.opencontainers.image.base.name", default="")
    base: Digest | None = msgspec.field(name=BASE_DIGEST, default=None)
    revision: str = msgspec.field(name=REVISION, default="")

    @property
    def foreign_revision(self) -> str:
        """What it says of its source that is not the pin's; empty where that is. A release has none."""
        own = self.commit if self.pin.startswith("git:") else ""
        return "" if self.revision == own else self.revision


def told_by(place: str, labels: Mapping[str, str]) -> tuple[Told, list[ToldEntry]]:
    """What an image's labels tell of its lane.

    Args:
        place: Where the image is, for messages.
        labels: Of its configuration.

    Raises:
        LanewrightError: They are not those of a lane's image, or what they say makes no sense.
    """
    if f"{PREFIX}lane" not in labels:
        raise LanewrightError(
            f"{place} is no lane's image: it has no label {PREFIX}lane; {_whose(labels)}",
            hint="name an image that `lanewright image` made, or a base with `--base` to make one on",
        )
    for key, value in labels.items():
        if len(value) > MOST_LABEL and (key.startswith(PREFIX) or key in ORIGIN):
            raise LanewrightError(
                f"{place}: its label {key} has {len(value)} characters, as no lane's has"
            )
    try:
        told = msgspec.convert(dict(labels), Told)
        entries = told_entries(labels)
    except msgspec.ValidationError as error:
        raise LanewrightError(f"{place}: its labels cannot be read: {error}") from error
    except LanewrightError as error:
        raise LanewrightError(f"{place}: {error}") from error
    _require_plain(place, msgspec.to_builtins(entries))
    return told, entries


def _whose(labels: Mapping[str, str]) -> str:
    if any(key.startswith(f"{PREFIX}base.") for key in labels):
        return "it is a base that `lanewright image base` made"
    said = [f"{key}={short(labels[key])}" for key in ORIGIN if labels.get(key)]
    if said:
        return f"it says of itself {', '.join(said)}"
    return "it does not say whose it is" if labels else "it has no labels at all"


def short(value: str) -> str:
    """Some text of others, quoted, as long as a line of talk has room for."""
    text = visible(value[:SHOWN]).replace("\n", "\\n").replace("\t", "\\t")
    return repr(text + ("..." if len(value) > SHOWN else ""))


def _require_plain(place: str, data: object) -> None:
    where = f"{place}: its label {PREFIX}entries"
    if isinstance(data, str) and any(ord(c) < ord(" ") or c == "\x7f" for c in data):
        raise LanewrightError(f"{where} has a control character: {short(data)}")
    if isinstance(data, int) and not 0 <= data < MOST_COUNT:
        raise LanewrightError(f"{where} has a number out of all bounds")
    if isinstance(data, dict):
        for key, value in data.items():
            _require_plain(place, key)
            _require_plain(place, value)
    if isinstance(data, list):
        for value in data:
            _require_plain(place, value)
