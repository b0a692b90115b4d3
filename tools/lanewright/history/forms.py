"""What the history reads of others' files, and nothing else of them: records, results, a status, a report."""

from typing import Annotated, Literal

import msgspec

# What SQLite holds, too.
Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
Number = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
Share = Annotated[float, msgspec.Meta(gt=0, lt=1)]
# As records have it.
Time = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")]


class Pin(msgspec.Struct):
    """The pin of a record."""

    ref: str
    commit: str


class Layer(msgspec.Struct):
    """The layer of a record."""

    digest: str


class Model(msgspec.Struct):
    """The model of a record."""

    name: str


class Hunk(msgspec.Struct):
    """One hunk of an entry."""

    outcome: str


class Entry(msgspec.Struct):
    """One entry that the lane carries."""

    name: str
    kind: str
    hunks: list[Hunk] = []


class Completion(msgspec.Struct):
    """One answer, of which its length counts."""

    ids: list[int]


class Proof(msgspec.Struct):
    """What is proven of a feature."""

    feature: str
    on: bool
    facts: dict[str, Count]
    text: str


class Boot(msgspec.Struct):
    """One boot of a run."""

    seconds: dict[str, float]
    completions: list[Completion]
    proofs: list[Proof]


class Boots(msgspec.Struct):
    """The boots of a run."""

    offline: Boot | None
    server: Boot | None


class First(msgspec.Struct):
    """Where an answer first leaves the baseline's."""

    index: Count


class Row(msgspec.Struct):
    """One arm against the baseline."""

    arm: str
    role: str
    equal: Count
    prompts: Count
    first: First | None


class Mode(msgspec.Struct):
    """One mode of an engine."""

    mode: str
    verdict: str
    rows: list[Row]


class Resumed(msgspec.Struct):
    """The run that booted an arm."""

    run: str


class Equality(msgspec.Struct):
    """What a comparison came to."""

    verdict: str
    modes: list[Mode]
    proofs: dict[str, list[Proof]]
    resumed: dict[str, Resumed] = {}


class Fault(msgspec.Struct):
    """Why a run failed."""

    message: str
    exit_code: Number


class Environment(msgspec.Struct, frozen=True):
    """What a run ran on; records of an earlier lanewright do not tell the hardware."""

    hardware: str | None = None


class Record(msgspec.Struct):
    """A record of a run."""

    schema: Literal[1]
    lane: str
    started: Time
    finished: Time
    lanewright: str
    lock: str
    pin: Pin
    tree: str
    layer: Layer | None
    entries: list[Entry]
    model: Model | None
    boots: Boots
    equality: Equality | None
    verdict: Literal["passed", "failed"]
    error: Fault | None
    environment: Environment = Environment()
    drift: Share | None = None


class Result(msgspec.Struct):
    """What an arm of a comparison left: all its answers, one pass at a time and several at once.

    An earlier lanewright's does not tell its cores.
    """

    seconds: dict[str, float]
    completions: list[Completion]
    together: dict[str, list[Completion]] = {}
    cores: Count | None = None


class Pull(msgspec.Struct):
    """A pull request in a status; ``place`` is left out there where it is carried."""

    number: Count
    head: str | None = None
    place: str = "carried"
    newest: str | None = None
    title: str = ""
    state: str = ""
    merged_as: str = ""
    note: str = ""


class Status(msgspec.Struct):
    """A lane in a status, with the pull requests that it carries and those that it watches."""

    lane: str
    pulls: list[msgspec.Raw] = []
    watched: list[msgspec.Raw] = []


class ReportedHunk(msgspec.Struct):
    """A hunk in a report; ``open`` is left out there where nobody is needed."""

    outcome: str = ""
    open: bool = False


class ReportedFile(msgspec.Struct):
    """A file of an entry in a report."""

    hunks: list[ReportedHunk] = []


class ReportedEntry(msgspec.Struct):
    """An entry in a report: carried, or tried alone."""

    standing: str
    name: str = ""
    kind: str = ""
    files: list[ReportedFile] = []


class Reported(msgspec.Struct):
    """A report of a lane."""

    entries: list[ReportedEntry]
