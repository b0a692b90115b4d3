"""What a page reads of a run's record; the record's schema has all of it."""

from typing import Any

import msgspec

from lanewright.page.nights import MOST, PLAIN
from lanewright.places import Places
from lanewright.store.regular import read_regular


class Divergence(msgspec.Struct, frozen=True):
    """Where the first unequal answer leaves the baseline's."""

    number: int
    prompt: str
    index: int
    what: str
    baseline: int | None
    other: int | None
    gap: float | None


class Row(msgspec.Struct, frozen=True):
    """An arm beside its baseline."""

    arm: str
    role: str
    equal: int
    prompts: int
    first: Divergence | None

    @property
    def holds(self) -> bool:
        """Whether it is as it must be: a negative control must differ."""
        whole = self.equal == self.prompts
        return not whole if self.role == "negative control" else whole


class Mode(msgspec.Struct, frozen=True):
    """A mode's comparison."""

    mode: str
    verdict: str
    why: str
    distinct: int
    rows: list[Row]


class Proof(msgspec.Struct, frozen=True):
    """What was proven of a feature."""

    feature: str
    on: bool
    facts: dict[str, int]
    text: str


class Resumed(msgspec.Struct, frozen=True):
    """Where the answers of an arm are from that was not booted again."""

    run: str
    finished: str


class Equality(msgspec.Struct, frozen=True):
    """A comparison with the unpatched pin."""

    verdict: str
    baseline: str
    tokens: int
    fewer: list[str]
    exchanged: str
    modes: list[Mode]
    proofs: dict[str, list[Proof]]
    resumed: dict[str, Resumed]


class Boot(msgspec.Struct, frozen=True):
    """One boot."""

    seconds: dict[str, float]
    proofs: list[Proof]


class Boots(msgspec.Struct, frozen=True):
    """What was booted."""

    offline: Boot | None
    server: Boot | None


class Pin(msgspec.Struct, frozen=True):
    """What a lane stands on."""

    ref: str
    commit: str
    tree: str


class Pull(msgspec.Struct, frozen=True):
    """A pull request."""

    number: int
    head: str
    base: str


class Hunk(msgspec.Struct, frozen=True):
    """A hunk."""

    id: str
    path: str
    outcome: str
    open: bool = False


class Entry(msgspec.Struct, frozen=True):
    """What a lane carries."""

    name: str
    kind: str
    source: str
    pull: Pull | None = None
    hunks: list[Hunk] = []
    files: list[str] = []
    claims: list[str] = []


class Layer(msgspec.Struct, frozen=True):
    """A lane's files as one layer."""

    digest: str
    size: int
    site_packages: str


class Error(msgspec.Struct, frozen=True):
    """What a run failed with."""

    message: str
    exit_code: int


class Record(msgspec.Struct, frozen=True):
    """One run of a lane."""

    tree: str
    started: str
    finished: str
    pin: Pin
    layer: Layer | None
    entries: list[Entry]
    engine: dict[str, Any]
    environment: dict[str, str | None]
    shims: list[str]
    boots: Boots
    equality: Equality | None
    verdict: str
    error: Error | None


def read_record(places: Places, lane: str, run: str | None) -> Record | None:
    """Read a run's record; None where there is none that can be read."""
    if not run or not PLAIN.fullmatch(run):
        return None
    content = read_regular(places.state / "runs" / lane / run / "record.json", MOST)
    try:
        return msgspec.json.decode(content, type=Record) if content else None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
