"""What the history tells, typed."""

import msgspec


class PastStep(msgspec.Struct, frozen=True, kw_only=True):
    """One command of a night, as ``nightly.night.Step`` has it."""

    name: str
    command: list[str]
    lane: str | None
    verdict: str
    exit_code: int | None
    started: str | None
    seconds: float | None
    why: str
    run: str | None


class PastEntry(msgspec.Struct, frozen=True):
    """What a lane carried.

    Attributes:
        name: As in the series.
        kind: ``patch``, ``pull`` or ``overlay``.
        hunks: How many of them ended as each outcome.
    """

    name: str
    kind: str
    hunks: dict[str, int]


class PastRow(msgspec.Struct, frozen=True):
    """One arm against the baseline; ``first`` is the first divergent index, where there is one."""

    arm: str
    role: str
    equal: int
    prompts: int
    first: int | None


class PastMode(msgspec.Struct, frozen=True):
    """Equality in one mode of the engine."""

    mode: str
    verdict: str
    rows: list[PastRow]


class PastProof(msgspec.Struct, frozen=True):
    """What was proven of a feature; ``place`` is a boot or an arm, as in ``eager.on``."""

    place: str
    feature: str
    on: bool
    text: str
    facts: dict[str, int]


class PastTiming(msgspec.Struct, frozen=True):
    """How long a boot or an arm took for something, in seconds."""

    place: str
    what: str
    seconds: float


class PastSpeed(msgspec.Struct, frozen=True):
    """How fast a boot or an arm answered.

    Attributes:
        mode: The arm's; ``boot`` for a boot.
        arm: Its name, or the boot's.
        tokens: Of all answers.
        seconds: That these took.
        measured_in: Name of the run's folder that it was booted in.
        ratio: Its tokens per second beside the baseline's of the same run and mode; None for a boot,
            where the two were not measured in one run, and where they have no numbers.
        cores: How many its engine kept to; None for a boot, and where that is not told.
        word: What the ratio comes to beside the lane's own drift: ``within the drift``, ``faster``,
            ``slower`` or ``not counted``; empty for what is not judged, as boots and controls.
        why: Why it is not counted.
    """

    mode: str
    arm: str
    tokens: int
    seconds: float
    measured_in: str
    ratio: float | None
    cores: int | None
    word: str
    why: str


class PastBand(msgspec.Struct, frozen=True, kw_only=True):
    """How far a lane's unpatched pin is from itself in a mode: what an arm is judged by.

    Attributes:
        mode: Of the engine.
        width: How far from 1 a ratio says nothing, either way; ``floor``, ``own`` or ``spread``,
            whichever is the farthest.
        floor: What it is at least, by the series.
        own: The self control's tokens a second by the baseline's, in this run; None where that
            does not count.
        spread: How far from 1 the same is in the last runs on the same hardware and as many cores,
            this one among them; None where none counts.
        runs: How many they are.
    """

    mode: str
    width: float
    floor: float
    own: float | None
    spread: float | None
    runs: int


class PastRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run, as its record had it.

    Attributes:
        folder: Its name below ``runs/<lane>``.
        equality: Verdict of all modes; None where there is none.
        exit_code: What it ended with.
        error: First line of why it failed.
        pruned: When its folder was removed; None where it was not.
        hardware: What it ran on; None where its record does not tell.
        drift: How far throughput may be from the baseline's before that counts, by the series; None
            where its record does not tell.
        bands: One for each mode that has a baseline.
    """

    lane: str
    folder: str
    started: str
    finished: str
    lanewright: str
    pin_ref: str
    pin_commit: str
    tree: str
    layer: str | None
    lock: str
    model: str | None
    verdict: str
    equality: str | None
    exit_code: int
    error: str | None
    pruned: str | None
    hardware: str | None
    drift: float | None
    entries: list[PastEntry]
    modes: list[PastMode]
    proofs: list[PastProof]
    timings: list[PastTiming]
    throughput: list[PastSpeed]
    bands: list[PastBand]


class PastPull(msgspec.Struct, frozen=True, kw_only=True):
    """A pull request, as ``lanewright status`` told of it that night; ``told`` is all it told."""

    number: int
    standing: str
    head: str | None
    newest: str | None
    title: str
    state: str
    merged_as: str
    note: str
    told: msgspec.Raw


class Change(msgspec.Struct, frozen=True):
    """What is another than before.

    Attributes:
        what: E.g. ``pin``, ``step boot`` or ``entry 56177``.
        before: What it was; empty where there was none.
        now: What it is; empty where there is none.
        since: Name of the earlier night.
    """

    what: str
    before: str
    now: str
    since: str


class PastLane(msgspec.Struct, frozen=True, kw_only=True):
    """A lane in a night.

    Attributes:
        lane: Its name.
        verdict: Of all its steps; ``passed`` only where one has passed and none says otherwise.
        where: Name of the step that the verdict is from, where it is no ``passed``.
        drift: Whether upstream has moved away from it.
        left_out: How many of its steps were not tried.
        commits_behind: Its distance from upstream's head; None where that was not told, as of
            releases.
        conflicts: How many hunks of what it carries need a person; None without a report.
        reported: What became of what it carries, by that report.
    """

    lane: str
    verdict: str
    where: str
    drift: bool
    left_out: int
    commits_behind: int | None
    conflicts: int | None
    reported: list[PastEntry]
    steps: list[PastStep]
    runs: list[PastRun]
    pulls: list[PastPull]
    changes: list[Change]


class PastNight(msgspec.Struct, frozen=True, kw_only=True):
    """A night.

    Attributes:
        name: Of its folder.
        finished: When it ended; None where it is going on, or was killed.
        pruned: When its folder was removed; None where it was not.
        steps: Those that are of no lane.
        lanes: In the order in which they were asked for.
    """

    name: str
    started: str
    finished: str | None
    lanewright: str
    project: str
    commit: str | None
    pruned: str | None
    steps: list[PastStep]
    lanes: list[PastLane]


class History(msgspec.Struct, frozen=True):
    """Nights and runs, the newest first; runs only where they are asked for."""

    nights: list[PastNight]
    runs: list[PastRun]
