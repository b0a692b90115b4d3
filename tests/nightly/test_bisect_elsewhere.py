"""What hardware answers otherwise is looked for on a CPU lane, once the machine serves again."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import World
from tests.nightly.gpu import on_a_gpu, with_a_gpu
from tests.nightly.nights import night, step_of, verdicts
from tests.nightly.steps import Quick

# An idle GPU with room.
IDLE = 'case "$1" in *free*) echo 100000;; esac'
FOUND = {
    "parts": [{"part": "hook:vllm/a.py:0123456789", "told": "hunk 1 of 2"}],
    "good_without": ["hook:vllm/a.py:0123456789"],
    "next": None,
}
DIFFERS = "import sys; print('lanewright: answers differ', file=sys.stderr); sys.exit(5)"


def named(world: World, other: str, device: str = "cpu") -> None:
    """Have the sample lane on a GPU, and another lane named for it."""
    series = world.root / "series/sample.toml"
    (world.root / "series/small.toml").write_text(
        series.read_text().replace('device = "cpu"', f'device = "{device}"')
    )
    on_a_gpu(world)
    series.write_text(
        series.read_text().replace("[engine]\n", f'[equality]\nbisect_on = "{other}"\n\n[engine]\n')
    )


def ran(world: World, monkeypatch: pytest.MonkeyPatch, code: int) -> dict[str, Any]:
    """A night on a machine with an idle GPU, and an environment for it."""
    (world.root / "environments").mkdir()
    (world.root / "environments/cuda.txt").touch()
    upstream = world.root / "upstream.toml"
    upstream.write_text(upstream.read_text().replace("[releases]\n", '[releases]\ncuda = "vllm"\n'))
    with_a_gpu(world, monkeypatch, IDLE)
    assert world.run("nightly", "sample") == code
    return night(world)


def steps(tmp_path: Path, equal: str) -> dict[str, str]:
    asked = tmp_path / "asked"
    log = f"open({str(asked)!r}, 'a').write(' '.join(words) + chr(10))\n"
    return {
        "boot": log + DIFFERS,
        "equal": log + equal,
        "bisect": log + f"import json; print(json.dumps({FOUND!r}))",
    }


def test_a_mismatch_is_reproduced_and_bisected_there(
    quick: Quick, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = quick(**steps(tmp_path, DIFFERS))
    named(world, "small")
    found = ran(world, monkeypatch, 5)
    names = [each["name"] for each in found["steps"]]
    assert names[-3:] == ["restore", "reproduce", "bisect"]
    assert verdicts(found, "sample")["reproduce"] == "failed"
    assert step_of(found, "sample", "reproduce")["command"] == ["equal", "small"]
    bisect = step_of(found, "sample", "bisect")
    assert bisect["command"] == ["bisect", "small", "--equal", "--json"]
    assert bisect["verdict"] == "passed"
    assert bisect["why"].splitlines() == [
        "hook:vllm/a.py:0123456789: hunk 1 of 2",
        "  found on small, without the hardware",
    ]
    assert (tmp_path / "asked").read_text().splitlines() == [
        "boot --equal sample",
        "equal small",
        "bisect small --equal --json",
    ]


def test_what_the_cpu_does_not_show_is_told_to_be_the_hardwares(
    quick: Quick, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = quick(**steps(tmp_path, "pass"))
    named(world, "small")
    found = ran(world, monkeypatch, 5)
    reproduce = step_of(found, "sample", "reproduce")
    assert reproduce["verdict"] == "passed"
    assert reproduce["why"] == (
        "small answers as its pin does: what differs shows on the hardware alone"
    )
    assert step_of(found, "sample", "bisect")["verdict"] == "left out"
    assert "bisect" not in (tmp_path / "asked").read_text()


def test_without_a_mismatch_nothing_is_looked_for(
    quick: Quick, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = quick(**(steps(tmp_path, "pass") | {"boot": "pass"}))
    named(world, "small")
    found = ran(world, monkeypatch, 0)
    told = verdicts(found, "sample")
    assert (told["boot"], told["reproduce"], told["bisect"]) == ("passed", "left out", "left out")
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize(
    ("other", "device", "why"),
    [
        ("none", "cpu", "names no other lane: none"),
        ("sample", "cpu", "names no other lane: sample"),
        ("small", "cuda", "small, which [equality] bisect_on names, is no CPU lane"),
    ],
)
def test_a_lane_that_cannot_be_meant_is_told(
    quick: Quick,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    other: str,
    device: str,
    why: str,
) -> None:
    world = quick(**steps(tmp_path, DIFFERS))
    named(world, other, device)
    found = ran(world, monkeypatch, 5)
    for name in ("reproduce", "bisect"):
        step = step_of(found, "sample", name)
        assert step["verdict"] == "left out"
        assert why in step["why"]


def test_a_lane_that_names_none_says_what_to_name(
    quick: Quick, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = quick(**steps(tmp_path, DIFFERS))
    on_a_gpu(world)
    found = ran(world, monkeypatch, 5)
    why = step_of(found, "sample", "bisect")["why"]
    assert why.endswith("bisect on a CPU lane, which [equality] bisect_on names")
