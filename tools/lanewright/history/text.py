"""A lane's nights, and runs, told to people."""

from collections.abc import Iterator

from lanewright.history.band import BASELINE, SLOWER, Timed
from lanewright.history.changes import outcomes_of
from lanewright.history.grid import standing_of, told_verdict
from lanewright.history.past import PastEntry, PastLane, PastMode, PastNight, PastRun, PastStep
from lanewright.history.speed_words import judged, percent, stands_on, told_word
from lanewright.report.outcome import counted
from lanewright.report.shown import in_a_line
from lanewright.terminal import Amber


def night_lines(night: PastNight) -> Iterator[str]:
    """Yield a night of one lane in detail: steps, runs, pull requests, what changed."""
    about = [f"began {night.started}", *([f"ended {night.finished}"] if night.finished else [])]
    about += [*standing_of(night), f"lanewright {night.lanewright}"]
    about += [f"project at {night.commit[:12]}"] if night.commit else []
    yield in_a_line(f"night {night.name}: {', '.join(about)}")
    for step in night.steps:
        yield _step(step, "  of all lanes, ")
    for lane in night.lanes:
        yield from (_indented(line) for line in _lane(lane))


def run_line(run: PastRun) -> str:
    """A run in one line."""
    told = [run.started, run.verdict if run.verdict == "passed" else _failed(run)]
    told += [f"equality {run.equality}"] if run.equality else []
    told += ["pruned"] if run.pruned else []
    return in_a_line(f"{run.lane}/{run.folder}: {', '.join(told)}")


def _lane(lane: PastLane) -> Iterator[str]:
    yield in_a_line(f"{lane.lane}: {told_verdict(lane)}")
    if lane.commits_behind is not None:
        yield f"  {counted(lane.commits_behind, 'commit')} behind upstream"
    if lane.conflicts:
        yield f"  {counted(lane.conflicts, 'hunk')} in conflict"
    if not lane.runs:
        # A run has them, too.
        yield from (_entry(entry) for entry in lane.reported)
    for step in lane.steps:
        yield _step(step, "  ")
    for run in lane.runs:
        yield from (_indented(line) for line in _run(run))
    for pull in lane.pulls:
        moved = f", upstream at {pull.newest[:12]}" if pull.newest else ""
        facts = " ".join(filter(None, [pull.state, pull.standing]))
        head = f" at {pull.head[:12]}" if pull.head else ""
        yield in_a_line(f"  #{pull.number}: {facts}{head}{moved}")
    for change in lane.changes:
        before, now = change.before or "none", change.now or "none"
        yield in_a_line(f"  since night {change.since}: {change.what}: {before} -> {now}")


def _indented(line: str) -> str:
    return type(line)(f"  {in_a_line(line)}")


def _step(step: PastStep, head: str) -> str:
    took = f", {step.seconds:.1f} s" if step.seconds is not None else ""
    code = f" with {step.exit_code}" if step.exit_code else ""
    why = f": {step.why.splitlines()[0]}" if step.why.strip() else ""
    return in_a_line(f"{head}{step.name}: {step.verdict}{code}{took}{why}")


def _run(run: PastRun) -> Iterator[str]:
    pruned = f", pruned {run.pruned}" if run.pruned else ""
    yield f"run {run.folder}: {run.verdict if run.verdict == 'passed' else _failed(run)}{pruned}"
    yield f"  pin {run.pin_ref} (commit {run.pin_commit[:12]}), tree {run.tree[:12]}"
    yield from (_entry(entry) for entry in run.entries)
    for mode in run.modes:
        yield f"  equality {mode.mode}: {mode.verdict} ({_rows(mode)})"
    for proof in run.proofs:
        yield f"  proof of {proof.feature} in {proof.place}: {proof.text}"
    yield from _speeds(run)


def _entry(entry: PastEntry) -> str:
    told = f": {outcomes_of(entry)}" if entry.hunks else ""
    return in_a_line(f"  {entry.kind} {entry.name}{told}")


def _failed(run: PastRun) -> str:
    why = f": {run.error}" if run.error else ""
    return f"{run.verdict} with {run.exit_code}{why}"


def _rows(mode: PastMode) -> str:
    return ", ".join(
        f"{row.arm} {row.equal}/{row.prompts}"
        + ("" if row.first is None or row.role != "arm" else f" from index {row.first}")
        for row in mode.rows
    )


def _speeds(run: PastRun) -> Iterator[str]:
    for mode in dict.fromkeys(speed.mode for speed in run.throughput):
        of_mode = [speed for speed in run.throughput if speed.mode == mode]
        baseline = next((speed for speed in of_mode if speed.arm == BASELINE), None)
        told = []
        for speed in of_mode:
            if speed.ratio is None or speed is baseline:
                timed = Timed(speed.tokens, speed.seconds, speed.measured_in, speed.cores)
                rate = "no time" if timed.rate is None else f"{timed.rate:.1f} tokens/s"
                other = f" (of run {speed.measured_in})" if speed.measured_in != run.folder else ""
                told.append(f"{speed.arm} {rate}{other}")
            else:
                told.append(f"{speed.arm} {speed.ratio:.3f} of it")
        told.sort(key=lambda text: not text.startswith(f"{BASELINE} "))
        yield f"  throughput {mode}: {', '.join(told)}"
        for band in run.bands:
            if band.mode == mode:
                stands = stands_on(band, run.hardware)
                yield f"    own drift {mode}: {percent(band.width)} either way ({stands})"
        for speed in judged(run, mode):
            line = f"    {speed.arm} {mode}: {told_word(speed)}"
            yield Amber(line) if speed.word == SLOWER else line
