"""What a map that follows traffic wins: ``nox -s bench -- switch [LANE] [--tokens N] [--out DIR]``.

One engine serves text of the kind that its boot map was measured on, then of another kind, then of
the first again, each another part of what training held out. Its picks are kept: what other maps and
policies would have made of them follows from the same picks, for answers do not hang on the map. The
policy is replayed over them at the engine's pace, and must come to the very swaps that the engine made,
and at the pace that ``moe_follow`` has by default. It ends with exit code 5 where the moving map does not
come near enough to the oracle map, or later than the planner says.
"""

import argparse
import json
import shlex
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import numpy as np

from benchmarks.bounds import verdict
from benchmarks.inside_lane import Facts, run_inside
from benchmarks.plot import plotted
from benchmarks.recording import recorded
from benchmarks.scraping import scraped
from benchmarks.switch_outcome import PACE, Served, outcome
from benchmarks.switch_recovery import recoveries
from benchmarks.switch_series import series
from benchmarks.switch_shares import far, table
from lanewright.errors import ExitCode
from lanewright.residency.trace import Trace
from lanewright.terminal import emit, quoted

LANE = "cpu-follow"
# Of the held-out text: its kind, and from where to where. English is served twice as long.
LEARN = ("python", 0, 0.5)
MATCHED, SWITCHED, BACK = ("python", 0.5, 0.75), ("english", 0, 1), ("python", 0.75, 1)


def main() -> ExitCode:
    """Serve, replay, and print a table of cold shares by phase."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("lane", nargs="?", default=LANE)
    parser.add_argument("--tokens", type=int, default=24 * 1024, help="of a phase")
    parser.add_argument("--seed", type=int, default=20261201)
    parser.add_argument("--out", type=Path, help="folder for series, plot and a recorded terminal")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as recording:
        stats = Path(folder, "stats.json")
        if asked.out:
            asked.out.mkdir(parents=True, exist_ok=True)
            recording.enter_context(recorded(_top(stats), asked.out / "switch.cast"))
        samples = recording.enter_context(scraped(stats))
        served = serve(asked, Path(folder), stats)
    found = outcome(served)
    switches = recoveries(served, found)
    for line in (*table(served, found), *(f"  {each.told()}" for each in switches)):
        emit(line)
    if asked.out:
        write(asked.out, series(served, found, samples))
    return verdict([*far(served, found), *(each.told() for each in switches if each.late)])


def write(folder: Path, found: Facts) -> None:
    """Write the series and their plot into a folder."""
    (folder / "switch.json").write_text(json.dumps(found) + "\n")
    plotted(found, folder / "switch.svg")


def serve(asked: argparse.Namespace, folder: Path, stats: Path) -> Served:
    """Boot the lane and serve all phases."""
    tokens = asked.tokens
    spec = {
        "learn": [*LEARN, tokens],
        "phases": [[*MATCHED, tokens], [*SWITCHED, 2 * tokens], [*BACK, tokens]],
        "follow": asdict(PACE),
        "seed": asked.seed,
        "stats": str(stats),
    }
    facts = run_inside("traffic_switch.py", asked.lane, {"enforce_eager": True}, spec, folder)
    ids: Trace = np.load(facts["ids"])
    boot = np.zeros((ids.shape[1], facts["experts"]), np.bool_)
    for layer, hot in enumerate(facts["boot"]):
        boot[layer, hot] = True
    return Served(ids, boot, facts["hot_rows"], facts["ends"], facts)


def _top(stats: Path) -> list[str]:
    """Show the table as soon as there are stats."""
    show = [
        sys.executable,
        "-m",
        "lanewright",
        "residency",
        "top",
        f"--file={stats}",
        "--interval=1",
    ]
    wait = f"while [ ! -e {quoted(stats)} ]; do sleep 0.5; done; exec {shlex.join(show)}"
    return ["sh", "-c", wait]


if __name__ == "__main__":
    sys.exit(main())
