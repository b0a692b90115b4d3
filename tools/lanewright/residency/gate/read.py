"""Reads what the conditions go by: a replay, a scoreboard of guessers."""

from pathlib import Path
from typing import Annotated, TypeVar

import msgspec

from lanewright.errors import LanewrightError

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
MOST_BYTES = 2**26


class PolicyTold(msgspec.Struct, frozen=True):
    """A policy of a replay, as far as it is read."""

    policy: str
    cold_share: Share


class Replayed(msgspec.Struct, frozen=True):
    """What ``residency replay --json`` printed, as far as it is read.

    Attributes:
        model: Hash of what was served.
        tokens: That were replayed.
        rows: Of each layer.
        experts: Of each layer.
        policies: Each one's outcome; a policy may have several.
    """

    schema: Annotated[int, msgspec.Meta(ge=1, le=1)]
    model: str
    tokens: Annotated[int, msgspec.Meta(ge=1)]
    rows: list[int]
    experts: Annotated[int, msgspec.Meta(ge=1)]
    policies: list[PolicyTold]


class WideTold(msgspec.Struct, frozen=True):
    """What so many names of a guesser came to."""

    names: Annotated[int, msgspec.Meta(ge=1)]
    recall: Share
    recall_error: float | None = None


class GuesserTold(msgspec.Struct, frozen=True):
    """A guesser of a scoreboard, as far as it is read.

    Attributes:
        guesser: Its name.
        missing: Why it guessed nothing, or None.
        copies: Whether a copy can follow it; not where it is the rows that are held already.
        lead_seconds: Before its layer; None for any time.
        wide: By the number of names, the fewest first.
    """

    guesser: str
    copies: bool
    lead_seconds: float | None = None
    missing: str | None = None
    wide: list[WideTold] = []


class Scoreboard(msgspec.Struct, frozen=True):
    """What ``residency guess --json`` printed, as far as it is read."""

    schema: Annotated[int, msgspec.Meta(ge=1, le=1)]
    model: str
    tokens: Annotated[int, msgspec.Meta(ge=1)]
    picks_per_token: Annotated[int, msgspec.Meta(ge=1)]
    guessers: list[GuesserTold]


Told = TypeVar("Told", Replayed, Scoreboard)


def read_told(path: Path, kind: type[Told], made_by: str) -> Told:
    """Read what a command printed.

    Args:
        path: The file.
        kind: What it must be.
        made_by: The command, for people.

    Raises:
        LanewrightError: There is no such file, or it is something else.
    """
    hint = f"lanewright {made_by} --json > FILE"
    try:
        if not path.is_file():
            raise LanewrightError(f"{path}: there is no such file", hint=hint)
        if path.stat().st_size > MOST_BYTES:
            raise LanewrightError(f"{path} is too large to be what {made_by} prints", hint=hint)
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except OSError as error:
        raise LanewrightError(f"{path} cannot be read: {error.strerror}", hint=hint) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise LanewrightError(f"{path} is not what {made_by} prints: {error}", hint=hint) from error
