"""What is made of a switch of traffic that was served, here a drawn one."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.plot import plotted
from benchmarks.recording import recorded
from benchmarks.switch_shares import MOST, PHASES, WINDOW, Served, far, series, share, table
from benchmarks.traffic_switch import PACE, policies, require_same_swaps
from expert_bank.policy import Policy
from lanewright.errors import LanewrightError
from lanewright.residency.oracle import oracle_map
from lanewright.residency.replay import replay
from lanewright.residency.trace import Picks, counted
from tests.residency import traffic

L, E, K, H = 2, 64, 4, 49
PHASE = 6 * WINDOW
ENDS = [PHASE, 3 * PHASE, 4 * PHASE]


@pytest.fixture(scope="module")
def served() -> Served:
    """Three phases, as an engine would have served them whose forwards are of 16 tokens."""
    home, away = (traffic.matched(n, L, E, K, seed=s) for n, s in ((2 * PHASE, 0), (2 * PHASE, 1)))
    ids = np.concatenate([home[:PHASE], away, home[PHASE:]])
    boot = oracle_map(counted(home, E), [H] * L)
    barriers = [*range(256, len(ids), 256)]
    policy = Policy([*boot], rows=[H] * L, row_bytes=[1] * L, picks_per_token=K, pace=PACE)
    found = replay(policy, ids, boot, every=barriers, rows=[H] * L, row_bytes=[1] * L)
    facts = {
        "row_bytes": [1] * L,
        "cold_picks": int(found.cold.sum()),
        "follows": {"fallbacks": 0, "returns": 0, "seconds": 0.1},
        "barriers": [
            {"token": token, "swaps": [[s.layer, s.promote, s.demote] for s in swaps]}
            for token, swaps in zip(barriers, found.swaps, strict=True)
        ],
    }
    return Served(ids, boot, [H] * L, ENDS, facts)


@pytest.fixture(scope="module")
def cold(served: Served) -> dict[str, Picks]:
    """Cold picks of every policy."""
    return policies(served)


def test_the_moving_map_is_near_the_oracle_and_the_fixed_one_is_not(
    served: Served, cold: dict[str, Picks]
) -> None:
    require_same_swaps(served, cold["moving"])
    assert far(served, cold) == []
    (missed,) = far(served, {**cold, "moving": cold["fixed"]})
    assert missed.startswith("switched: ")
    switched = PHASES.index("switched")
    assert share(served, cold["fixed"], switched) > MOST * share(served, cold["oracle"], switched)
    head, columns, *rows, last = table(served, cold)
    assert "49 of 64 experts hot; a map drawn at random: 23.4%" in head
    assert columns.split() == [
        "phase",
        "tokens",
        "fixed",
        "moving",
        "last",
        "1/3",
        "oracle",
        "LRU",
        "Belady",
        "swaps",
    ]
    assert [row.split()[:2] for row in rows] == [
        [name, str(tokens)] for name, tokens in zip(PHASES, (PHASE, 2 * PHASE, PHASE), strict=True)
    ]
    made = sum(len(each["swaps"]) for each in served.facts["barriers"])
    assert f"the replay of {made} swaps at {len(served.facts['barriers'])} barriers" in last


def test_an_engine_that_swaps_or_counts_otherwise_is_told(
    served: Served, cold: dict[str, Picks]
) -> None:
    with pytest.raises(LanewrightError, match="the engine counted 1 cold picks"):
        require_same_swaps(
            Served(**{**vars(served), "facts": {**served.facts, "cold_picks": 1}}),
            cold["moving"],
        )
    fewer = [{**each, "swaps": []} for each in served.facts["barriers"]]
    with pytest.raises(LanewrightError, match="the engine made 0 swaps, and the replay"):
        policies(Served(**{**vars(served), "facts": {**served.facts, "barriers": fewer}}))


def test_series_are_by_window(served: Served, cold: dict[str, Picks]) -> None:
    found = series(served, cold)
    assert {len(each) for each in found["cold"].values()} == {4 * PHASE // WINDOW}
    assert sum(found["swaps"]) == sum(len(each["swaps"]) for each in served.facts["barriers"])
    mean = sum(found["cold"]["moving"]) / len(found["cold"]["moving"])
    assert mean == pytest.approx(float(cold["moving"].mean()) / K, abs=1e-4)


def test_the_same_numbers_are_drawn_alike(
    served: Served, cold: dict[str, Picks], tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib", reason="the plot's library is the benchmarks' own")
    found = series(served, cold)
    files = [tmp_path / f"{number}.svg" for number in range(2)]
    for file in files:
        plotted(found, file)
    one, other = (file.read_bytes() for file in files)
    assert one == other
    assert one.startswith(b"<?xml")


def test_a_recording_holds_what_a_terminal_showed(tmp_path: Path) -> None:
    file = tmp_path / "shown.cast"
    said = tmp_path / "said"
    command = ["sh", "-c", f"stty size; test -t 1 && echo a terminal; touch {said}; sleep 60"]
    with recorded(command, file):
        while not said.exists():
            pass
    header, *events = file.read_text().splitlines()
    assert header == '{"version": 2, "width": 100, "height": 20}'
    shown = "".join(json.loads(each)[2] for each in events)
    assert "20 100\r\na terminal\r\n" in shown
