"""What an image says of itself: labels of its configuration, annotations of its manifest."""

from collections import Counter
from collections.abc import Mapping

import msgspec

from lanewright.errors import LanewrightError
from lanewright.queue.lock import Lock, LockedEntry, layer_of

PREFIX = "dev.lanewright."
BASE_DIGEST = "org.opencontainers.image.base.digest"
REVISION = "org.opencontainers.image.revision"
LICENCE = "Apache-2.0"
VLLM = "https://github.com/vllm-project/vllm"


class ToldFix(msgspec.Struct, frozen=True):
    """A hand fix, as an image tells it.

    Attributes:
        path: File that it settles.
        digest: sha256 of the recipe.
        state: As the lock has it.
    """

    path: str
    digest: str
    state: str


class ToldEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """An entry, as an image tells it.

    Attributes:
        name: As in the series.
        kind: ``patch``, ``pull`` or ``overlay``.
        digest: sha256 of what it is made of.
        pull: Number of a pull request.
        head: Its commit.
        base: The commit that it is a change of; a patch's, as it says it.
        claims: What it takes for itself.
        hunks: Ids of the hunks that were carried, by what became of them.
        left: Of those that were not, how many, by what became of them.
        files: How many an overlay lays in.
        fixes: Hand fixes that were taken.
    """

    name: str
    kind: str
    digest: str
    pull: int | None = None
    head: str = ""
    base: str = ""
    claims: list[str] = []
    hunks: dict[str, list[str]] = {}
    left: dict[str, int] = {}
    files: int = 0
    fixes: list[ToldFix] = []


CARRIED = ("clean", "merged", "fixed")


def lane_stamps(lock: Lock) -> dict[str, str]:
    """What is told of a lane whether or not it has a layer."""
    # Of `source`, beside which a release's own commit means nothing: that is the store's.
    revision = {REVISION: lock.pin.commit} if lock.pin.source == "git" else {}
    return {
        f"{PREFIX}entries": msgspec.json.encode([_entry(e) for e in lock.entries]).decode(),
        f"{PREFIX}lane": lock.lane,
        f"{PREFIX}lock": lock.seal,
        f"{PREFIX}pin": lock.pin.ref,
        f"{PREFIX}pin.commit": lock.pin.commit,
        f"{PREFIX}pin.tree": lock.pin.tree,
        f"{PREFIX}series": lock.inputs,
        f"{PREFIX}tree": lock.tree,
        "org.opencontainers.image.licenses": LICENCE,
        "org.opencontainers.image.source": VLLM,
        "org.opencontainers.image.title": f"lane {lock.lane}",
        "org.opencontainers.image.vendor": "lanewright",
        **revision,
    }


def stamps(lock: Lock) -> dict[str, str]:
    """What an image tells of the layer that it has of a lane.

    Raises:
        LanewrightError: The lane has no layer.
    """
    layer = layer_of(lock)
    said = {
        **lane_stamps(lock),
        f"{PREFIX}layer": layer.digest,
        f"{PREFIX}site-packages": layer.site_packages,
        "org.opencontainers.image.version": layer.version or lock.pin.version,
    }
    return dict(sorted(said.items()))


def told_entries(labels: Mapping[str, str]) -> list[ToldEntry]:
    """The entries that an image's labels tell.

    Raises:
        LanewrightError: They tell none, or in no form that is known here.
    """
    try:
        return msgspec.json.decode(labels.get(f"{PREFIX}entries", ""), type=list[ToldEntry])
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise LanewrightError(f"its label {PREFIX}entries cannot be read: {error}") from error


def _entry(entry: LockedEntry) -> ToldEntry:
    hunks: dict[str, list[str]] = {}
    for hunk in entry.hunks:
        if hunk.outcome in CARRIED and not hunk.open:
            hunks.setdefault(hunk.outcome, []).append(hunk.id)
    left = Counter(hunk.outcome for hunk in entry.hunks if hunk.outcome not in CARRIED or hunk.open)
    return ToldEntry(
        name=entry.name,
        kind=entry.kind,
        digest=entry.digest,
        pull=entry.pull.number if entry.pull else None,
        head=entry.pull.head if entry.pull else "",
        base=entry.pull.base if entry.pull else entry.base.ref if entry.base else "",
        claims=list(entry.claims),
        hunks=dict(sorted(hunks.items())),
        left=dict(sorted(left.items())),
        files=len(entry.files),
        fixes=[ToldFix(fix.path, fix.digest, fix.state) for fix in entry.fixes],
    )
