"""What a lane answered on this machine, outside of any container."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.queue.lock import Lock
from lanewright.serve.equality.asked import Mode
from lanewright.serve.equality.found import Given
from lanewright.serve.record import newest_records
from lanewright.serve.served import Served
from lanewright.terminal import quoted

T = TypeVar("T")
Some = msgspec.Meta(min_length=1)


@dataclass(frozen=True)
class Golden:
    """Answers to hold others against.

    Attributes:
        run: Folder of the run that gave them.
        whose: Which engine's they are, for people.
        completions: As ``serve/inside/arms.py`` writes them.
        exact: Whether they hold the bits of logprobs.
        seconds: How long ``import``, ``engine`` and ``generate`` took.
        cores: How many the engine kept to; None for all.
    """

    run: Path
    whose: str
    completions: list[dict[str, Any]]
    exact: bool
    seconds: dict[str, float]
    cores: int | None = None


class _Answer(msgspec.Struct):
    """Of an answer what is compared where bits are not kept."""

    prompt: str
    ids: list[int]


class _Offline(msgspec.Struct):
    completions: Annotated[list[_Answer], Some]
    seconds: dict[str, float]


class _Exact(msgspec.Struct):
    completions: Annotated[list[Given], Some]
    seconds: dict[str, float]


class _Boots(msgspec.Struct):
    offline: _Offline | None


class _Model(msgspec.Struct):
    hash: str
    content: str | None = None


class _Equality(msgspec.Struct):
    cores: Annotated[int, msgspec.Meta(ge=1)] | None = None


class _Passed(msgspec.Struct):
    """Of the record of a run that passed what is read here."""

    model: _Model
    boots: _Boots
    equality: _Equality | None = None


def golden(places: Places, lock: Lock, mode: Mode, model: Served) -> Golden:
    """The newest answers of a run of the lane's tree, on the same model, that passed.

    The unpatched pin's, where the run compared with it; else the lane's own. A run within a number
    of boots (``equal --boots``) has no boot of its own, which a server is held against, and is passed over.

    Raises:
        LanewrightError: There is no such run, or what it left is damaged.
    """
    again = f"lanewright boot --equal {quoted(lock.lane)}"
    others = False
    for record, folder in newest_records(places, lock.lane):
        file = folder / "record.json"
        mend = f"rm {quoted(file)} && {again}"
        if not isinstance(record, dict):
            raise _damaged(file, "it is no object", mend)
        if record.get("tree") != lock.tree or record.get("verdict") != "passed":
            continue
        passed = _read(record, _Passed, file, mend)
        if not (offline := passed.boots.offline):
            if passed.equality is None:
                raise _damaged(file, "it passed, and booted nothing", mend)
            continue
        if not _of_model(passed.model, model):
            others = True
            continue
        baseline = folder / "equality" / f"pin.{mode}.baseline.json"
        if passed.equality and baseline.exists():
            whole = _content(baseline, again)
            seconds = _read(whole, _Exact, baseline, again).seconds
            whose = f"the unpatched pin's ({mode})"
            return Golden(
                folder,
                whose,
                whole["completions"],
                exact=True,
                seconds=seconds,
                cores=passed.equality.cores,
            )
        answers = record["boots"]["offline"]["completions"]
        seconds = offline.seconds
        return Golden(folder, "the lane's", answers, exact=False, seconds=seconds)
    if others:
        raise LanewrightError(
            f"lane {lock.lane}: runs of tree {lock.tree[:12]} passed on this machine, but on another"
            f" model than what is in {model.folder} now, so there is nothing to compare with",
            hint=again,
        )
    raise LanewrightError(
        f"lane {lock.lane}: no run of tree {lock.tree[:12]} passed on this machine, to compare with",
        hint=again,
    )


def _of_model(told: _Model, model: Served) -> bool:
    """Whether a run was on a model; records of an earlier lanewright do not tell its content."""
    return told.hash == model.hash and told.content in (None, model.content)


def _content(file: Path, mend: str) -> Any:  # noqa: ANN401 - nothing is known of it yet
    try:
        return json.loads(file.read_bytes() if file.is_file() else b"")
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(file, str(error), mend) from error


def _read(whole: object, kind: type[T], file: Path, mend: str) -> T:
    try:
        return msgspec.convert(whole, kind)
    except msgspec.ValidationError as error:
        raise _damaged(file, str(error), mend) from error


def _damaged(file: Path, why: str, mend: str) -> LanewrightError:
    return LanewrightError(f"{file} is damaged: {why}", hint=mend)
