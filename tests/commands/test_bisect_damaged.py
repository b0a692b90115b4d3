"""``bisect --equal`` on records that are damaged, or of a lane that was asked otherwise."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from lanewright.queue.lock import read_lock
from lanewright.serve.equality.failed import newest_failed
from lanewright.serve.equality.suspect import Suspect, suspect_of
from lanewright.serve.lane import lay_lane
from lanewright.serve.served import served_model
from tests.commands.stand_in_lane import Lay
from tests.commands.test_bisect_equal import WRONG
from tests.conftest import World

Capture = pytest.CaptureFixture[str]
RECORD, BASELINE, ON = (
    "record.json",
    "equality/pin.eager.baseline.json",
    "equality/lane.eager.on.json",
)
ROW: dict[str, Any] = {"arm": "on", "role": "arm", "first": {"number": 1, "index": 0}}


def differing(mode: str = "eager", **row: object) -> dict[str, Any]:
    """What a comparison came to that one arm fails."""
    told = {"mode": mode, "verdict": "differs", "rows": [ROW | row]}
    return {"equality": {"verdict": "differs", "modes": [told]}}


# What the record says otherwise, what lies beside it, the file that is told, and why.
CASES: dict[str, tuple[Mapping[str, Any], Mapping[str, str], str, str]] = {
    "no such arm": (differing(arm="nope"), {}, RECORD, "has no arm eager.nope any more"),
    "no such mode": (differing("x"), {}, RECORD, "damaged"),
    "no modes": ({"equality": {"verdict": "differs"}}, {}, RECORD, "`modes`"),
    "a list of arms": (differing(arm=[]), {}, RECORD, "Expected `str`"),
    "no baseline": (differing(), {}, BASELINE, "No such file"),
    "a baseline cut short": (differing(), {BASELINE: "{"}, BASELINE, "damaged"),
    "a baseline of nothing": (differing(), {BASELINE: "[]"}, BASELINE, "Expected `object`"),
    "a baseline without end": (differing(), {BASELINE: "[" * 10**5}, BASELINE, "damaged"),
    "an error that is text": ({"error": "x"}, {}, RECORD, "Expected `object | null`"),
    "an empty result": ({}, {ON: "{}"}, ON, "missing required field"),
    "a result cut short": ({}, {ON: "{"}, ON, "damaged"),
    "a list for a result": ({}, {ON: "[1]"}, ON, "Expected `object`"),
    "nobody's tree": ({"tree": None}, {}, "", "has no answer that differs"),
    "no folder": ({"folder": None}, {}, "", "no arm of the lane fails by itself: m"),
}


def refused(world: World, capfd: Capture, file: Path | None, why: str) -> None:
    capfd.readouterr()
    assert world.run("bisect", "--equal") == 1
    err = capfd.readouterr().err
    assert why in err
    if file:
        assert f"lanewright: {file}: " in err
        assert "next: lanewright equal sample" in err


def test_what_is_damaged_is_told_by_its_file(lay: Lay, capfd: Capture) -> None:
    world = lay()
    lock = read_lock(world.lock)
    assert lock
    for number, (told, files, file, why) in enumerate(CASES.values()):
        folder = world.places.state / f"runs/sample/20261203T0000{number:02}Z-{lock.tree[:8]}"
        (folder / "equality").mkdir(parents=True)
        record: dict[str, Any] = {
            "tree": lock.tree,
            "equality": None,
            "error": {"message": "m", "exit_code": 5},
        }
        (folder / RECORD).write_text(json.dumps({**record, **told}))
        for name, content in files.items():
            (folder / name).write_text(content)
        refused(world, capfd, folder / file if file else None, why)
        (folder / RECORD).rename(folder / "told.json")
    (folder / RECORD).write_text("[]")
    refused(world, capfd, folder / RECORD, "no object")
    (folder / RECORD).write_text("[" * 10**5)
    refused(world, capfd, None, f"{folder / RECORD} is damaged")


def suspect(world: World) -> Suspect:
    lane = lay_lane(world.project, world.places, "sample")
    model = served_model(world.places, lane.env, lane.model).folder
    return suspect_of(lane, model, newest_failed(world.places, lane.lock))


def spoilt(whole: dict[str, Any]) -> None:
    whole["completions"][0]["bits"].pop()


def fewer(whole: dict[str, Any]) -> None:
    whole["completions"].pop()


def test_a_record_that_the_lane_has_moved_on_from(lay: Lay, capfd: Capture) -> None:
    world = lay(edit=WRONG)
    assert world.run("equal", "--mode", "eager") == 5
    before = suspect(world)
    assert before.arm["name"] == "eager.on"
    assert before.expected

    # Where it lies counts, not where it was written.
    world.places.state.rename(world.root.parent / "moved")
    world.places.state.mkdir()
    (world.places.state / "runs").symlink_to(world.root.parent / "moved" / "runs")
    (folder,) = world.places.state.glob("runs/sample/*")
    (folder / RECORD).write_text((folder / RECORD).read_text().replace(str(folder), "/nowhere"))
    assert suspect(world) == before

    series = (world.root / "series/sample.toml").read_text()
    for asked, why in (
        ('modes = ["compiled"]', ""),
        ("tokens = 32", "does not answer what the lane's [equality] asks now"),
        ("prompts = 40", "does not answer what the lane's [equality] asks now"),
        ("together = [2]", "does not answer what the lane's [equality] asks now"),
    ):
        said = series.replace("[engine]", f"[equality]\n{asked}\n\n[engine]")
        (world.root / "series/sample.toml").write_text(said)
        if why:
            refused(world, capfd, folder / BASELINE, why)
        else:
            assert suspect(world) == before
    (world.root / "series/sample.toml").write_text(series)

    baseline = (folder / BASELINE).read_bytes()
    changes: tuple[tuple[Callable[[dict[str, Any]], None], str], ...] = (
        (spoilt, "has not the logprobs of all its tokens"),
        (fewer, "does not answer what the lane's [equality] asks now"),
    )
    for change, why in changes:
        whole = json.loads(baseline)
        change(whole)
        (folder / BASELINE).write_text(json.dumps(whole))
        refused(world, capfd, folder / BASELINE, why)
    (folder / BASELINE).write_bytes(baseline)

    record = json.loads((folder / RECORD).read_text())
    beyond = differing(first={"number": 45, "index": 0})
    (folder / RECORD).write_text(json.dumps(record | beyond))
    refused(world, capfd, folder / RECORD, "there is no prompt 45")

    # An arm's proof is read only where no answer differs.
    (folder / RECORD).write_text(json.dumps(record | {"equality": None}))
    found = json.loads((folder / ON).read_text())
    del found["usage"][0]["counts"]
    (folder / ON).write_text(json.dumps(found))
    refused(world, capfd, folder / ON, "its proof ends in KeyError: 'counts'")
