"""``lanewright residency replay``: policies on a recorded trace."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lanewright.residency.belady import belady_cold
from lanewright.residency.compared.policies import POLICIES
from lanewright.residency.fixed import fixed_cold
from lanewright.residency.oracle import oracle_map
from lanewright.residency.trace import counted
from lanewright.residency.trace_file.writing import write_trace
from lanewright.serve.usage import write_usage
from tests.conftest import World
from tests.residency import requests, traffic

Capture = pytest.CaptureFixture[str]
Replay = Callable[..., str]
MIB = 2**20
FOUND = requests.recorded(
    traffic.matched(400, 3, 16, 2),
    16,
    request=np.arange(400) // 20,
    position=np.arange(400) % 20,
)
SIZES = ("--hot", "6,5,4", "--row", "4MiB")


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    file = tmp_path / "trace.parquet"
    write_trace(file, FOUND)
    return file


@pytest.fixture
def replayed(world: World, trace: Path, capfd: Capture) -> Replay:
    """Run it on a trace; what it printed, and on an exit code what it said."""

    def asked(*arguments: str, code: int = 0) -> str:
        assert world.run("residency", "replay", str(trace), *arguments) == code
        found = capfd.readouterr()
        return found.err if code else found.out

    return asked


def told_of(replayed: Replay, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(replayed(*SIZES, *arguments, "--json"))
    return found


def test_every_policy_is_told(replayed: Replay) -> None:
    found = told_of(replayed)
    names = [each["policy"] for each in found["policies"]]
    assert names == [*POLICIES[:9], *["infinity-paper"] * 3, *["infinity-code"] * 3]
    assert {key: found[key] for key in ("tokens", "forwards", "requests", "model")} == {
        "tokens": 300,
        "forwards": 300,
        "requests": 15,
        "model": "hash",
    }
    assert (found["rows"], found["buffer_rows"], found["row_bytes"]) == ([6, 5, 4], 15, 4 * MIB)
    assert found["null"]["cold_share"] == pytest.approx(33 / 48)
    for each in found["policies"]:
        assert each["cold_share"] + each["hit_rate"] == 1
        assert each["moved_bytes"] >= each["demand_miss_bytes"] > 0
        assert sum(bucket["tokens"] for bucket in each["by_token"]) == 300
        assert [bucket["first"] for bucket in each["by_token"]] == [0, 1, 2, 4, 8, 16]
    assert [each["links"] for each in found["policies"][9:12]] == [[24.0], [32.0], [340.0]]


def test_the_map_at_the_start_is_of_what_is_not_replayed(replayed: Replay) -> None:
    found = told_of(replayed, "--policy", "fixed,belady", "--learn", "0.5", "--link", "10")
    fixed, belady = found["policies"]
    hot = oracle_map(counted(FOUND.ids[:200], 16), (6, 5, 4))
    cold = int(fixed_cold(FOUND.ids[200:], hot).sum())
    assert fixed["cold_share"] == cold / (200 * 6)
    assert fixed["demand_miss_bytes"] == fixed["moved_bytes"] == cold * 4 * MIB
    assert fixed["stall_seconds"] == {"10": pytest.approx(cold * 4 * MIB / 10e9)}
    assert belady["cold_share"] == belady_cold(FOUND.ids[200:], hot, (6, 5, 4)).sum() / (200 * 6)


def usage_of(folder: Path, counts: list[list[int]], model: str, names: list[str]) -> Path:
    worker = {"layers": names, "picks_per_token": 2, "tokens": 1, "counts": counts}
    written = write_usage(folder / "usage.parquet", [worker], model=model)
    assert written
    return written


def test_the_map_at_the_start_may_be_of_a_usage_map(replayed: Replay, tmp_path: Path) -> None:
    counts = counted(FOUND.ids, 16)
    usage = usage_of(tmp_path, counts.tolist(), "hash", [*FOUND.layers])
    found = told_of(replayed, "--policy", "fixed,oracle", "--boot", str(usage))
    assert found["tokens"] == 400
    fixed, oracle = found["policies"]
    assert fixed["cold_share"] == oracle["cold_share"]
    other = usage_of(tmp_path, counts.tolist(), "another", [*FOUND.layers])
    said = replayed(*SIZES, "--boot", str(other), code=1)
    assert f"{other} is of another model than the trace" in said
    usage_of(tmp_path, counts.tolist(), "hash", ["a", "b", "c"])
    assert "lacks layers of the trace" in replayed(*SIZES, "--boot", str(other), code=1)


def test_lines_for_people(replayed: Replay) -> None:
    text = replayed(*SIZES, "--policy", "fixed,infinity-paper", "--link", "24,340", "--by-token")
    first, shape, rows, units, head, fixed, slow, fast, then, *places = text.splitlines()
    assert first == "the map at the start is of the first 100 tokens, which are not replayed"
    assert shape == (
        "300 tokens in 300 forwards of 15 requests; 3 layers of 16 experts, 2 a token, 4.00 MiB each"
    )
    assert rows == "15 rows: a map that knows nothing has 68.75% cold, 31.25% hit"
    assert units.endswith("beside the 15 that it computes")
    assert head.split() == [
        "policy",
        "cold",
        "hit",
        "demand",
        "moved",
        "wasted",
        "swaps",
        "24",
        "GB/s",
        "340",
        "GB/s",
    ]
    assert [line.split()[0] for line in (fixed, slow, fast)] == ["fixed", *["infinity-paper"] * 2]
    assert len(fast) == len(head) > len(slow)
    assert then == "by a token's place in its request: cold, and ms that its forward waited"
    assert len(places) == 1 + 3 * 6
    assert places[1].split()[:2] == ["fixed", "0"]
    assert places[6].split()[:2] == ["fixed", "16-31"]


def test_a_buffer_of_its_own(replayed: Replay) -> None:
    asked = ("--policy", "infinity-paper", "--link", "24")
    found = told_of(replayed, *asked, "--buffer", "21MiB")
    assert found["buffer_rows"] == 5
    [below] = found["policies"]
    # A step picks six rows.
    assert below["moved_bytes"] == below["demand_miss_bytes"]
    [above] = told_of(replayed, *asked, "--buffer", "24MiB")["policies"]
    assert above["moved_bytes"] > above["demand_miss_bytes"]
    text = replayed(*SIZES, *asked, "--buffer", "21MiB")
    assert "15 rows, 5 in MoE-Infinity's buffer: " in text


def test_settings_reach_the_policy(replayed: Replay) -> None:
    asked = (
        "--policy",
        "infinity-paper",
        "--link",
        "24",
        "--hot",
        "10",
        "--row",
        "4MiB",
        "--step",
        "0.3",
        "--json",
    )
    plain = replayed(*asked)
    for change in (("--eams", "1"), ("--nearest", "3"), ("--ahead", "9"), ("--step", "0")):
        assert replayed(*asked, *change) != plain, change


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            ("--hot", "17", "--row", "4MiB"),
            "--hot: moe_hot_experts '17': 17 is more than layer 0's",
        ),
        (("--hot", "1", "--row", "4"), "--row '4' is no size"),
        (("--hot", "1", "--row", "0MiB"), "--row '0MiB' is no size"),
        ((*SIZES, "--buffer", "much"), "--buffer 'much' is no size"),
        ((*SIZES, "--learn", "1"), "no token is left to replay"),
        ((*SIZES, "--boot", "absent"), "usage map absent: there is no such file"),
    ],
)
def test_what_does_not_go_with_the_trace_ends_with_1(
    replayed: Replay, arguments: tuple[str, ...], why: str
) -> None:
    said = replayed(*arguments, code=1)
    assert why in said
    assert "next: " in said


def test_what_is_no_trace_ends_with_1(replayed: Replay, trace: Path) -> None:
    trace.write_bytes(trace.read_bytes()[:-1])
    said = replayed(*SIZES, code=1)
    assert f"{trace} is no trace: it cannot be read as Parquet: " in said
    write_trace(trace, replace(FOUND, experts=17))
    assert "300 tokens" in replayed(*SIZES, "--policy", "fixed")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        SIZES[:2],
        SIZES[2:],
        (*SIZES, "--policy", "guess"),
        (*SIZES, "--policy", ""),
        (*SIZES, "--link", "0"),
        (*SIZES, "--link", "24,"),
        (*SIZES, "--step", "-1"),
        (*SIZES, "--step", "inf"),
        (*SIZES, "--eams", "0"),
        (*SIZES, "--learn", "1.1"),
        (*SIZES, "--learn", "0.5", "--boot", "usage.parquet"),
    ],
)
def test_what_cannot_be_read_ends_with_2(
    world: World, capfd: Capture, arguments: tuple[str, ...]
) -> None:
    with pytest.raises(SystemExit) as ended:
        world.run("residency", "replay", "trace.parquet", *arguments)
    assert ended.value.code == 2
    assert "usage: lanewright" in capfd.readouterr().err


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_plot_has_the_same_bytes_for_the_same_numbers(
    replayed: Replay, tmp_path: Path, kind: str
) -> None:
    files = [tmp_path / f"{number}.{kind}" for number in range(2)]
    for file in files:
        replayed(*SIZES, "--plot", str(file))
    assert files[0].read_bytes() == files[1].read_bytes()
    if kind == "svg":
        text = files[0].read_text()
        assert all(name in text for name in POLICIES)
        assert "340 GB/s" in text


def test_a_plot_of_no_kind_is_refused_before_anything(replayed: Replay, tmp_path: Path) -> None:
    said = replayed(*SIZES, "--plot", str(tmp_path / "plot.gif"), code=1)
    assert "plot.gif: a plot is a .png or a .svg" in said
    assert "..." not in said
