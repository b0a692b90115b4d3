"""Reads back how fast the boots and arms of a run were, each beside its baseline and the lane's drift."""

import sqlite3
from collections.abc import Iterator, Mapping
from itertools import islice

from lanewright.history.band import (
    BASELINE,
    CONTROL,
    NOT_COUNTED,
    RUNS,
    Timed,
    ratio_of,
    spread,
    why_not_counted,
    width,
    word_of,
)
from lanewright.history.past import PastBand, PastSpeed
from lanewright.queue.series_boot import DRIFT

BOOT = "boot"
# Of a run and of those before it on the same machine, the newest first: a folder's name begins with
# the time. What a later lanewright reads of an old night is what it was.
CONTROLS = """
    SELECT runs.folder,
        self.tokens, self.seconds, self.measured_in, self.cores,
        base.tokens, base.seconds, base.measured_in, base.cores
    FROM runs
    JOIN throughput AS self ON self.lane = runs.lane AND self.run = runs.folder
    JOIN throughput AS base ON base.lane = runs.lane AND base.run = runs.folder
    WHERE runs.lane = :lane AND runs.folder <= :run AND self.arm = :control AND base.arm = :baseline
        AND self.mode = :mode AND base.mode = :mode
        AND (runs.folder = :run OR (runs.hardware = :hardware AND base.cores = :cores))
    ORDER BY runs.folder DESC
"""


def read_speeds(
    connection: sqlite3.Connection, run: sqlite3.Row
) -> tuple[list[PastSpeed], list[PastBand]]:
    """How fast a run's boots and arms were, and the bands that its arms are judged by.

    Args:
        connection: To the history.
        run: Of the run: ``lane``, ``folder``, ``hardware`` and ``drift``.
    """
    found: dict[tuple[str, str], Timed] = {
        (mode, arm): Timed(*facts)
        for mode, arm, *facts in connection.execute(
            "SELECT mode, arm, tokens, seconds, measured_in, cores FROM throughput"
            " WHERE lane = ? AND run = ? ORDER BY mode, arm",
            (run["lane"], run["folder"]),
        )
    }
    baselines = {mode: timed for (mode, arm), timed in found.items() if arm == BASELINE}
    bands = {mode: _band(connection, run, mode, each) for mode, each in baselines.items()}
    speeds = [_speed(run["folder"], *key, timed, baselines, bands) for key, timed in found.items()]
    return speeds, [*bands.values()]


def _speed(
    run: str,
    mode: str,
    arm: str,
    timed: Timed,
    baselines: Mapping[str, Timed],
    bands: Mapping[str, PastBand],
) -> PastSpeed:
    baseline = baselines.get(mode)
    ratio = ratio_of(timed, baseline)
    word, why = "", ""
    if mode != BOOT and arm not in (BASELINE, CONTROL):
        why = why_not_counted(run, timed, baseline)
        counts = ratio is not None and not why
        word = word_of(ratio, bands[mode].width) if ratio is not None and counts else NOT_COUNTED
    facts = (timed.tokens, timed.seconds, timed.measured_in)
    return PastSpeed(mode, arm, *facts, ratio, timed.cores, word, why)


def _band(connection: sqlite3.Connection, run: sqlite3.Row, mode: str, baseline: Timed) -> PastBand:
    told = run["drift"]
    # Whoever edits a history may write any number there.
    floor = told if told is not None and 0 < told < 1 else DRIFT
    controls = dict(islice(_controls(connection, run, mode, baseline), RUNS))
    own, ratios = controls.get(run["folder"]), [*controls.values()]
    return PastBand(
        mode=mode,
        width=width(floor, own, ratios),
        floor=floor,
        own=own,
        spread=spread(ratios),
        runs=len(ratios),
    )


def _controls(
    connection: sqlite3.Connection, run: sqlite3.Row, mode: str, baseline: Timed
) -> Iterator[tuple[str, float]]:
    """Yield the runs whose self control counts, each with its ratio."""
    asked = {
        "lane": run["lane"],
        "run": run["folder"],
        "hardware": run["hardware"],
        "mode": mode,
        "cores": baseline.cores,
        "control": CONTROL,
        "baseline": BASELINE,
    }
    for folder, *facts in connection.execute(CONTROLS, asked):
        control, base = Timed(*facts[:4]), Timed(*facts[4:])
        ratio = ratio_of(control, base)
        if ratio is not None and not why_not_counted(folder, control, base):
            yield folder, ratio
