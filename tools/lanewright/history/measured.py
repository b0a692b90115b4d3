"""How long the boots and arms of a run took, and how many tokens they gave."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lanewright.history.forms import Boots, Completion, Equality, Result
from lanewright.history.reading_files import DamagedError, decoded, read_file
from lanewright.serve.equality.note import read_note
from lanewright.terminal import say

# What ``serve.engines.result_name`` makes of an arm.
RESULT = re.compile(r"(?:pin|lane)\.(?P<mode>eager|compiled)\.(?P<arm>[\w-]+)\.json")
BOOT = "boot"


@dataclass(frozen=True)
class Measured:
    """A boot, or an arm of a comparison.

    Attributes:
        mode: The arm's; ``boot`` for a boot.
        arm: Its name, or the boot's.
        seconds: By what they were taken for.
        answering: Which of them its answers took.
        tokens: How many it gave in these.
        run: Name of the run's folder that it was booted in; None where that is this one.
        cores: How many its engine kept to; None for a boot, and where that is not told.
    """

    mode: str
    arm: str
    seconds: Mapping[str, float]
    answering: str
    tokens: int
    run: str | None = None
    cores: int | None = None

    @property
    def place(self) -> str:
        """E.g. ``offline`` or ``eager.on``."""
        return self.arm if self.mode == BOOT else f"{self.mode}.{self.arm}"


def boots_of(boots: Boots) -> Iterator[Measured]:
    """Yield the boots that a run came to."""
    if boot := boots.offline:
        yield Measured(BOOT, "offline", boot.seconds, "generate", _tokens(boot.completions))
    if boot := boots.server:
        yield Measured(BOOT, "server", boot.seconds, "requests", _tokens(boot.completions))


def arms_of(folder: Path, equality: Equality | None) -> Iterator[Measured]:
    """Yield the arms whose results are in a run's folder, whether or not it came to a verdict."""
    resumed = {arm: origin.run for arm, origin in (equality.resumed if equality else {}).items()}
    for file in sorted((folder / "equality").glob("*.json")):
        match = RESULT.fullmatch(file.name)
        if not match:
            continue
        name = f"{match['mode']}.{match['arm']}"
        try:
            found = decoded(read_file(file), Result)
        except DamagedError as error:
            say(f"{file} is passed over: {error}")
            continue
        # An interrupted comparison has come to no verdict that would name the run.
        note = read_note(file.with_name(f"{file.stem}.finished.json"))
        run = resumed.get(name) or (note.run if note else None)
        passes = [found.completions, *found.together.values()]
        tokens = sum(_tokens(each) for each in passes)
        facts = (match["mode"], match["arm"], found.seconds, "generate", tokens)
        yield Measured(*facts, run, found.cores)


def _tokens(completions: Sequence[Completion]) -> int:
    return sum(len(each.ids) for each in completions)
