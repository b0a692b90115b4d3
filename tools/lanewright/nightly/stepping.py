"""One step of a night: a lanewright of its own, which can fail, or be killed, without the night."""

import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from lanewright.errors import UNREACHED, ExitCode
from lanewright.guarded import ended
from lanewright.nightly.night import Step, Verdict
from lanewright.nightly.planning import verdict_of
from lanewright.report.shown import cut
from lanewright.serve.child import POLL, child
from lanewright.store.regular import read_regular
from lanewright.terminal import say

RECORD = re.compile(r"record: .*/(?P<run>[^/]+)/record\.json")
ERROR = "lanewright: "
# What a step may say once it has ended: where it goes wrong, most of a page.
MOST_LINES = 12
MOST_CHARACTERS = 500
# Of a log, in bytes: its end, where it is longer. And of what a search printed.
MOST_LOG = 2**18
MOST_OUT = 2**26
# Seconds without a word, after which a step is said to be at it still.
SILENCE = 60.0


def run_step(
    step: Step,
    root: Path,
    folder: Path,
    *,
    more: Sequence[str],
    environ: Mapping[str, str],
    seconds: float,
) -> Step:
    """Run a step to its end; what it says is said here, too, as it comes.

    Args:
        step: With the names of its files.
        root: Of the project.
        folder: Of the night.
        more: Words behind its command.
        environ: What it is given.
        seconds: After which it is ended, as failed.
    """
    command = [sys.executable, "-m", "lanewright", "-C", str(root), *step.command, *more]
    name = f"{step.lane} {step.name}"
    out, log = folder / (step.out or ""), folder / (step.log or "")
    start = heard = time.monotonic()
    late = ""
    with (
        child(name, command, environ=environ, log=log, out=out) as running,
        log.open("rb") as lines,
    ):
        while (status := running.guard.poll()) is None and not late:
            now = time.monotonic()
            if _echo(name, lines):
                heard = now
            elif now - heard >= SILENCE:
                heard = now
                say(f"{name}: still at it ({now - start:.0f} s)")
            if now - start >= seconds:
                late = f"made no end within {seconds:.0f} s, and was ended"
            time.sleep(POLL)
        _echo(name, lines)
    said = _end_of(log)
    if late or status is None:
        say(f"{name}: {late}")
        verdict, status, why = "failed", int(ExitCode.INPUT), [*said[-1:], late]
    else:
        verdict, status, why = _judged(step, status, said, out)
    recorded = [found["run"] for line in said if (found := RECORD.fullmatch(line))]
    return msgspec.structs.replace(
        step,
        verdict=verdict,
        exit_code=status,
        seconds=round(time.monotonic() - start, 1),
        why="\n".join(cut(line, MOST_CHARACTERS) for line in why),
        run=recorded[-1] if recorded else None,
    )


def _echo(name: str, lines: BinaryIO) -> bool:
    """Say what is new; whether there was anything."""
    said = False
    for line in lines:
        said = True
        say(f"{name}: {line.decode('utf-8', 'replace').rstrip()}")
    return said


def _end_of(log: Path) -> list[str]:
    """Lines of a log; the last ones of a long one."""
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - MOST_LOG))
        return stream.read(MOST_LOG).decode("utf-8", "replace").splitlines()


def _judged(
    step: Step, status: int, said: Sequence[str], out: Path
) -> tuple[Verdict, int, list[str]]:
    """What a step that ended came to, with what exit code, and why."""
    verdict = verdict_of(step.name, status, unreached=UNREACHED in said[_place(said) or 0 :])
    if verdict != "passed":
        return verdict, status, [*_why(said, status)]
    try:
        return verdict, status, [*_found(step, out)]
    except ValueError as error:
        why = f"it {ended(status)}, but what it printed tells nothing: {error}"
        return "failed", int(ExitCode.INPUT), [*said[-1:], why]


def _why(said: Sequence[str], status: int) -> Iterator[str]:
    """What it said last: its error and what it says is to be typed next, else its last line."""
    place = _place(said)
    if place is None:
        yield from said[-1:]
        if not said or status not in frozenset(ExitCode):
            yield ended(status)
        return
    first, *rest = said[place:]
    yield first.removeprefix(ERROR)
    yield from rest[: MOST_LINES - 1]


def _place(said: Sequence[str]) -> int | None:
    """Where its error stands, the last thing that it said."""
    return max((n for n, line in enumerate(said) if line.startswith(ERROR)), default=None)


def _found(step: Step, out: Path) -> Iterator[str]:
    """What a search came to: each part that is bad.

    Raises:
        ValueError: It did not say.
    """
    if step.name == "reproduce":
        yield f"{step.command[1]} answers as its pin does: what differs shows on the hardware alone"
    if step.name == "bisect":
        found = msgspec.json.decode(read_regular(out, MOST_OUT) or b"", type=_Bisected)
        told = {each.part: each.told for each in found.parts}
        yield from (f"{part}: {told.get(part, '')}" for part in found.good_without or told)
        if step.lane not in step.command:
            yield f"  found on {step.command[1]}, without the hardware"
        if found.next:
            yield f"  next: {found.next}"


class _Part(msgspec.Struct, frozen=True):
    part: str
    told: str


class _Bisected(msgspec.Struct, frozen=True):
    parts: list[_Part]
    good_without: list[str]
    next: str | None = None


def environ_of_steps() -> dict[str, str]:
    """What every step is given: its talk is read by this program, and not by a terminal."""
    return {**os.environ, "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}
