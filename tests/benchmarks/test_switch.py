"""What is made of a switch of traffic that was served, here a drawn one."""

import json
from pathlib import Path

import pytest

from benchmarks.plot import plotted
from benchmarks.recording import recorded
from benchmarks.switch_outcome import (
    DEFAULT,
    PACE,
    PHASES,
    Outcome,
    Served,
    outcome,
    require_the_same,
)
from benchmarks.switch_recovery import MOST
from benchmarks.switch_series import METRICS, TOKENS, WINDOW, series
from benchmarks.switch_shares import COLUMNS, far, share, table
from lanewright.errors import LanewrightError
from tests.benchmarks.drawn_switch import FORWARD, PHASE, SWITCHED, K

SAMPLES = [
    {
        TOKENS: 1024.0 * number,
        **dict.fromkeys(METRICS[3:], 3.0 * number),
        **({METRICS[0]: 0.1, METRICS[1]: 0.2, METRICS[2]: 0.05} if number else {}),
    }
    for number in range(5)
]


def test_the_moving_map_is_near_the_oracle_and_the_fixed_one_is_not(
    served: Served, found: Outcome
) -> None:
    assert far(served, found) == []
    (missed,) = far(served, Outcome({**found.cold, "moving": found.cold["fixed"]}, found.swaps))
    assert missed.startswith("switched: ")
    fixed, best = (share(served, found.cold[each], SWITCHED) for each in ("fixed", "oracle"))
    assert fixed > MOST * best


def test_the_table_has_both_paces_and_regret(served: Served, found: Outcome) -> None:
    head, paces, columns, *rows, last = table(served, found)
    assert "49 of 64 experts hot; a map drawn at random: 23.4%" in head
    assert f"every {PACE.every} forwards" in paces
    assert f"every {DEFAULT.every}, as moe_follow has it by default" in paces
    assert columns == COLUMNS
    assert [row.split()[:2] for row in rows] == [
        [name, str(tokens)] for name, tokens in zip(PHASES, (PHASE, 2 * PHASE, PHASE), strict=True)
    ]
    for phase, row in enumerate(rows):
        numbers = [float(each.strip("%")) for each in row.split()[2:]]
        _, moving, _, regret, swaps, default, _, late, fewer, oracle, *_ = numbers
        assert regret == pytest.approx(moving - oracle, abs=0.11)
        assert late == pytest.approx(default - oracle, abs=0.11)
        start, stop = served.spans[phase]
        for kind, shown in (("moving", swaps), ("default", fewer)):
            assert sum(start < token <= stop for token, *_ in found.swaps[kind]) == shown
    still = table(served, Outcome(found.cold, {**found.swaps, "default": []}))
    assert [row.split()[10] for row in still[3:-1]] == ["0"] * len(PHASES)
    made = sum(len(each["swaps"]) for each in served.facts["barriers"])
    assert f"the replay of {made} swaps at {len(served.facts['barriers'])} barriers" in last


def test_the_default_pace_is_replayed_at_its_own_barriers(found: Outcome) -> None:
    tokens = {token for token, *_ in found.swaps["default"]}
    assert tokens
    assert all(token % (DEFAULT.every * FORWARD) == 0 for token in tokens)
    assert {token for token, *_ in found.swaps["moving"]} - tokens


def test_an_engine_that_swaps_or_counts_otherwise_is_told(served: Served, found: Outcome) -> None:
    with pytest.raises(LanewrightError, match="the engine counted 1 cold picks"):
        require_the_same(
            Served(**{**vars(served), "facts": {**served.facts, "cold_picks": 1}}),
            found.cold["moving"],
            found.swaps["moving"],
        )
    fewer = [{**each, "swaps": []} for each in served.facts["barriers"]]
    with pytest.raises(LanewrightError, match="the engine made 0 swaps, and the replay"):
        outcome(Served(**{**vars(served), "facts": {**served.facts, "barriers": fewer}}))


def test_series_are_by_window(served: Served, found: Outcome) -> None:
    made = series(served, found, SAMPLES)
    assert {len(each) for each in made["cold"].values()} == {4 * PHASE // WINDOW}
    assert sum(made["swaps"]) == sum(len(each["swaps"]) for each in served.facts["barriers"])
    mean = sum(made["cold"]["moving"]) / len(made["cold"]["moving"])
    assert mean == pytest.approx(float(found.cold["moving"].mean()) / K, abs=1e-4)
    regret = made["regret"]
    assert regret["token"][:2] == [WINDOW / 2, 1.5 * WINDOW]
    more = (found.cold["moving"] - found.cold["oracle"]).sum()
    assert sum(regret["moving"]) * WINDOW == pytest.approx(more, rel=1e-3)
    # Right behind the switch it is that of the boot map, and less later on.
    first, last = PHASE // WINDOW, 3 * PHASE // WINDOW - 1
    assert regret["moving"][first] > 0.5 * regret["fixed"][first]
    assert regret["moving"][last] < 0.3 * regret["fixed"][last]
    assert max(regret["least"]) <= 0
    assert made["metrics"][METRICS[4]] == [[1024 * number, 3 * number] for number in range(5)]
    assert made["metrics"][METRICS[0]] == [[1024 * number, 0.1] for number in range(1, 5)]


def test_the_same_numbers_are_drawn_alike(served: Served, found: Outcome, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the plot's library is the benchmarks' own")
    made = series(served, found, SAMPLES)
    files = [tmp_path / f"{number}.svg" for number in range(2)]
    for file in files:
        plotted(made, file)
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
