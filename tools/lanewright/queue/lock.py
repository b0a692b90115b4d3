"""``series/<lane>.lock``: what a series came to; written by the tool alone."""

import hashlib
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from lanewright.errors import LanewrightError, MismatchError
from lanewright.image.oci import Digest
from lanewright.queue.pin import Pin
from lanewright.store.objects import CommitId, TreeId
from lanewright.terminal import quoted

SCHEMA: Literal[1] = 1
Outcome = Literal[
    "clean",
    "merged",
    "landed",
    "landed changed",
    "fixed",
    "fix stale",
    "conflict",
    "file missing",
    "not selected",
]


class HunkState(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of one hunk, or of a file's mode, creation or removal.

    Attributes:
        id: Its name; survives edits elsewhere in the patch.
        path: File it changes.
        symbol: Dotted name of what encloses it, or empty.
        lines: Where it stood on its own base, 1-based, as ``first+count``.
        outcome: What became of it on the pin.
        cause: Why, where that needs saying.
        open: Whether it needs a person; its entry is not carried until then.
        difference: Where it landed with edits, how upstream's lines differ from its own.
    """

    id: str
    path: str
    symbol: str
    lines: str
    outcome: Outcome
    cause: str = ""
    open: bool = False
    difference: str = ""


class LockedFix(msgspec.Struct, frozen=True):
    """A hand fix that was taken, or that does not settle a file that waits for a person.

    Attributes:
        path: File it settles.
        file: The recipe, below the project.
        digest: sha256 of the recipe.
        state: ``replayed`` as recorded; ``stale``: merged again onto sides that moved, and to be
            looked at; ``unneeded``: merged again, which gives what is there already; ``unfit``: of
            other sides, for a file that waits.
    """

    path: str
    file: str
    digest: str
    state: Literal["replayed", "stale", "unneeded", "unfit"]


class LockedPull(msgspec.Struct, frozen=True, omit_defaults=True):
    """A pull request, by object id.

    Attributes:
        number: Its number upstream.
        head: Its commit.
        base: The commit that it is a change of.
        outside: How many files it changes outside ``vllm/``; a lane has none of those.
    """

    number: int
    head: CommitId
    base: CommitId
    outside: int = 0


class LockedEntry(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One entry as applied.

    Attributes:
        name: As in the series.
        kind: What sort of thing it is.
        source: Path below the project.
        digest: sha256 of the patch file, or of an overlay's paths, modes and contents.
        base: What a patch was made against.
        pull: What is carried of a pull request.
        subset: Tree id of the files it changes, on its base with the chosen hunks in place.
        tree: Tree id of the lane once this entry is in.
        claims: What the entry takes for itself.
        hunks: A patch's hunks, chosen or not.
        files: An overlay's files, as laid into the lane's tree.
        fixes: Hand fixes that were taken, and those that a waiting file could not take.
    """

    name: str
    kind: Literal["patch", "pull", "overlay"]
    source: str
    digest: str
    tree: TreeId
    base: Pin | None = None
    pull: LockedPull | None = None
    subset: TreeId | None = None
    claims: list[str] = []
    hunks: list[HunkState] = []
    files: list[str] = []
    fixes: list[LockedFix] = []


class LockedLayer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The lane's changed files as one image layer.

    Attributes:
        digest: Of the uncompressed archive.
        size: Its bytes.
        site_packages: Folder of the image that the files go to.
        version: What vLLM calls itself in the image; empty in locks of the first form.
    """

    digest: Digest
    size: int
    site_packages: str
    version: str = ""


class LockedBase(msgspec.Struct, frozen=True, omit_defaults=True):
    """The image that the lane is served in.

    Attributes:
        name: Its name with its tag.
        digest: What it is, whatever the tag names later.
        index: The list that has it for several architectures, where that is known.
    """

    name: str
    digest: Digest
    index: Digest | None = None


class Lock(msgspec.Struct, frozen=True, kw_only=True):
    """A lane, settled: the same lock gives the same tree.

    Attributes:
        schema: Version of this format.
        lane: The lane's name.
        inputs: sha256 over the pin and every entry's content and selection; equal inputs are
            not applied again.
        pin: Upstream, by object id.
        entries: In the order applied.
        tree: The lane's tree id.
        base: The image under the lane's layer; absent where ``[image]`` names none.
        layer: What an image needs of the lane; absent where the series has no ``[image]``.
        seal: sha256 of all the rest, so that an edit by hand or a bad merge of two locks shows.
    """

    schema: Literal[1]
    lane: str
    inputs: str
    pin: Pin
    entries: list[LockedEntry]
    tree: TreeId
    base: LockedBase | UnsetType = UNSET
    layer: LockedLayer | UnsetType = UNSET
    seal: str = ""


def read_lock(path: Path) -> Lock | None:
    """The lock, or None where there is none yet.

    Raises:
        LanewrightError: It is there but damaged; the message names what is wrong in it.
        MismatchError: It was edited by hand.
    """
    try:
        lock = msgspec.json.decode(path.read_bytes(), type=Lock)
        if lock.lane != path.stem:
            raise msgspec.ValidationError(f"it is the lock of lane {lock.lane!r}")
        if lock != sealed(lock):
            raise MismatchError(
                f"{path} was edited: its seal does not fit what it says", hint=_restore(path)
            )
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LanewrightError(f"cannot read {path}: {error.strerror}") from error
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise LanewrightError(
            f"{path} is damaged: {error}",
            hint=_restore(path),
        ) from error
    return lock


def is_open(lock: Lock) -> bool:
    """Whether it was written without entries that need a person."""
    return any(hunk.open for entry in lock.entries for hunk in entry.hunks)


def _restore(path: Path) -> str:
    return (
        f"restore it (`git -C {quoted(path.parent)} checkout -- {path.name}`), or remove it and run"
        f" `lanewright build {path.stem}`"
    )


def layer_of(lock: Lock) -> LockedLayer:
    """The layer that a lock names.

    Raises:
        LanewrightError: It names none.
    """
    if isinstance(lock.layer, UnsetType):
        raise LanewrightError(
            f"lane {lock.lane} has no layer: its series names no place for one in an image",
            hint=f"add a table [image] with site_packages = "
            f'"/usr/local/lib/python3.11/dist-packages" to series/{lock.lane}.toml, then run'
            f" `lanewright build {lock.lane}`; where its kind is source, what builds the image is"
            f" written by `lanewright image source {lock.lane} --out DIR`",
        )
    return lock.layer


def sealed(lock: Lock) -> Lock:
    """The lock with the seal that fits it."""
    bare = msgspec.structs.replace(lock, seal="")
    return msgspec.structs.replace(lock, seal=hashlib.sha256(encode(bare)).hexdigest())


def encode(lock: Lock) -> bytes:
    """The lock as the bytes of its file."""
    return msgspec.json.format(msgspec.json.encode(lock), indent=2) + b"\n"
