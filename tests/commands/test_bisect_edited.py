"""``bisect --equal`` of a lane that is booted otherwise than in the run that failed."""

import json

import pytest

from lanewright.serve.recipes import RECIPES
from lanewright.serve.shims import known_shims
from tests.commands.stand_in_lane import Lay
from tests.commands.test_bisect_equal import WRONG

Capture = pytest.CaptureFixture[str]
ONE, OTHER, *_ = RECIPES
(SHIM, *_) = known_shims()
# What is edited, and how that is told.
EDITS: dict[str, tuple[str, str, str]] = {
    "an argument more": ("[engine]", "[engine]\nseed = 3", "[engine] seed none -> 3"),
    "an argument less": (
        "moe_usage_counter = true",
        "",
        "[engine] moe_usage_counter true -> none",
    ),
    "another value": ("= true", '= "é"', '[engine] moe_usage_counter true -> "é"'),
    "a table": (
        "[engine]",
        "[engine]\nx = {b = [1], a = false}",
        '[engine] x none -> {"a": false, "b": [1]}',
    ),
    "another recipe": (ONE, OTHER, f"[model] {ONE} -> {OTHER}"),
    "a shim": (
        "[engine]",
        f'[boot]\nshims = ["{SHIM}"]\n\n[engine]',
        f"[boot] shims none -> {SHIM}",
    ),
}


def test_what_was_edited_since_is_told(lay: Lay, capfd: Capture) -> None:
    world = lay(edit=WRONG)
    assert world.run("equal", "--mode", "eager") == 5
    (folder,) = world.places.state.glob("runs/sample/*")
    file = folder / "record.json"
    series = (world.root / "series/sample.toml").read_text()

    def refused(*told: str) -> None:
        capfd.readouterr()
        assert world.run("bisect", "--equal") == 1
        assert capfd.readouterr().err.splitlines() == [
            f"lanewright: {file}: the lane was edited since that run: {'; '.join(told)}",
            "  next: lanewright equal sample",
        ]

    for old, new, told in EDITS.values():
        (world.root / "series/sample.toml").write_text(series.replace(old, new, 1))
        refused(told)
    both = series.replace("[engine]\n", "[engine]\nseed = 3\n").replace(ONE, OTHER)
    (world.root / "series/sample.toml").write_text(both)
    refused("[engine] seed none -> 3", f"[model] {ONE} -> {OTHER}")
    (world.root / "series/sample.toml").write_text(series)

    record = json.loads(file.read_text())
    now = record["model"]["hash"]
    for key, value, said in (
        ("model", record["model"] | {"hash": "0" * 64}, f"[model] {ONE} is of {now[:12]}"),
        ("environment", record["environment"] | {"base": "old"}, "environment old -> "),
    ):
        file.write_text(json.dumps(record | {key: value}))
        capfd.readouterr()
        assert world.run("bisect", "--equal") == 1
        assert f"{file}: the lane was edited since that run: {said}" in capfd.readouterr().err

    # What a record does not say is nothing that was edited.
    for key in ("engine", "shims", "model", "environment"):
        del record[key]
    file.write_text(json.dumps(record))
    assert world.run("bisect", "--equal", "--json") == 0
