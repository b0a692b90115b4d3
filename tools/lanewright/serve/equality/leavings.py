"""Of what a failed run leaves behind the parts that are read, by their types."""

from typing import Annotated, Any

import msgspec

from lanewright.serve.equality.asked import Mode
from lanewright.serve.equality.compare import Role
from lanewright.serve.equality.found import Before, Given
from lanewright.serve.equality.verdict import Verdict

FromZero = Annotated[int, msgspec.Meta(ge=0)]
FromOne = Annotated[int, msgspec.Meta(ge=1)]


class First(msgspec.Struct, frozen=True):
    """Where an answer first left the baseline's: the prompt's number, from 1, and the place."""

    number: FromOne
    index: FromZero


class Row(msgspec.Struct, frozen=True):
    """One engine against the baseline."""

    arm: str
    role: Role
    first: First | None


class Compared(msgspec.Struct, frozen=True):
    """One mode of the engine."""

    mode: Mode
    verdict: Verdict
    rows: list[Row]


class Equality(msgspec.Struct, frozen=True):
    """What the comparison came to; earlier records do not say the cores, when it was all."""

    verdict: Verdict
    modes: list[Compared]
    cores: FromOne | None = None


class Ended(msgspec.Struct, frozen=True):
    """Why the run failed."""

    message: str
    exit_code: int


class Model(msgspec.Struct, frozen=True):
    """What was served."""

    recipe: str | None
    name: str
    hash: str


class Environment(msgspec.Struct, frozen=True):
    """What it was run by."""

    base: str


class Record(msgspec.Struct, frozen=True):
    """Of a record what is read here; where it says that it lies is where it was written."""

    error: Ended | None
    equality: Equality | None
    engine: dict[str, Any] | None = None
    shims: list[str] | None = None
    model: Model | None = None
    environment: Environment | None = None


class Expected(msgspec.Struct, frozen=True):
    """A baseline's answers."""

    completions: list[Given]
    together: dict[str, list[Given]]


class Answered(msgspec.Struct):
    """One answer of an engine, exact or not."""

    prompt: str
    prompt_tokens: int
    cached_tokens: int
    ids: list[int]
    text: str


class Left(msgspec.Struct):
    """Of an engine's result what proofs read."""

    completions: list[Answered]
    together: dict[str, list[Answered]]
    status: list[dict[str, Any]]
    usage: list[dict[str, Any] | None]
    banks: list[dict[str, Any] | None]
    moe: list[dict[str, int]]
    earlier: Before | msgspec.UnsetType = msgspec.UNSET
