"""What a map that follows traffic wins: ``nox -s bench -- switch [LANE] [--tokens N] [--out DIR]``.

One engine serves text of the kind that its boot map was measured on, then of another kind, then of
the first again. Its picks are kept: what other maps and policies would have made of them follows
from the same picks, for answers do not hang on the map. The policy is replayed over them, too, and
must come to the very swaps that the engine made. Where the moving map does not come near enough to
the oracle map, it ends with exit code 5.
"""

import argparse
import json
import shlex
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from benchmarks.bounds import verdict
from benchmarks.inside_lane import run_inside
from benchmarks.plot import plotted
from benchmarks.recording import recorded
from benchmarks.switch_shares import Served, far, parts, series, table
from expert_bank.pace import Pace
from expert_bank.policy import Policy
from lanewright.errors import ExitCode, LanewrightError
from lanewright.residency.belady import belady_cold
from lanewright.residency.fixed import cold_picks
from lanewright.residency.lru import lru_cold
from lanewright.residency.oracle import oracle_map
from lanewright.residency.replay import replay
from lanewright.residency.trace import Picks, Trace, counted
from lanewright.terminal import emit, quoted

LANE = "cpu-follow"
PACE = Pace(every=16)


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
        served = serve(asked, Path(folder), stats)
    cold = policies(served)
    require_same_swaps(served, cold["moving"])
    for line in table(served, cold):
        emit(line)
    if asked.out:
        (asked.out / "switch.json").write_text(json.dumps(series(served, cold)) + "\n")
        plotted(series(served, cold), asked.out / "switch.svg")
    return verdict(far(served, cold))


def serve(asked: argparse.Namespace, folder: Path, stats: Path) -> Served:
    """Boot the lane and serve all phases."""
    tokens = asked.tokens
    spec = {
        "learn": [["python", 0, tokens]],
        "phases": [["python", 0.5, tokens], ["english", 0, 2 * tokens], ["python", 0.5, tokens]],
        "follow": {"every": PACE.every},
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


def policies(served: Served) -> dict[str, Picks]:
    """Count each policy's cold picks, int64[T, L]."""
    ids, boot, rows = served.ids, served.boot, served.rows
    policy = Policy(
        [*boot],
        rows=rows,
        row_bytes=served.facts["row_bytes"],
        picks_per_token=ids.shape[2],
        pace=PACE,
    )
    found = replay(
        policy,
        ids,
        boot,
        every=[each["token"] for each in served.facts["barriers"] if each["token"]],
        rows=rows,
        row_bytes=served.facts["row_bytes"],
    )
    made = [[each.layer, each.promote, each.demote] for swaps in found.swaps for each in swaps]
    asked = [each for barrier in served.facts["barriers"] for each in barrier["swaps"]]
    if made != asked:
        raise LanewrightError(f"the engine made {len(asked)} swaps, and the replay {len(made)}")
    oracle = np.concatenate(
        [cold_picks(part, oracle_map(counted(part, boot.shape[1]), rows)) for part in parts(served)]
    )
    return {
        "moving": found.cold,
        "fixed": cold_picks(ids, boot),
        "oracle": oracle,
        "lru": lru_cold(ids, boot, rows),
        "belady": belady_cold(ids, boot, rows),
    }


def require_same_swaps(served: Served, moving: Picks) -> None:
    """Hold the replay against what the engine counted.

    Raises:
        LanewrightError: They are not one.
    """
    counted_cold = served.facts["cold_picks"]
    if int(moving.sum()) != counted_cold:
        raise LanewrightError(
            f"the engine counted {counted_cold} cold picks, and the replay {int(moving.sum())}"
        )


if __name__ == "__main__":
    sys.exit(main())
