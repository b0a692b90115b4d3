"""A comparison's arms are kept until what came of them is on disk."""

import errno
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from lanewright.errors import LanewrightError, MismatchError
from lanewright.places import Places
from lanewright.serve import run as running
from lanewright.serve.equality import run as comparing
from lanewright.serve.equality.asked import Asked
from lanewright.serve.wanted import Wanted
from tests.serve.sample_run import latest, run
from tests.serve.stand_in import lay_pin, lay_stand_in

ARMS = {"pin.eager.baseline", "pin.eager.self", "lane.eager.off", "lane.eager.on"}
ASKED = Asked(prompts=6, tokens=12, distinct=40, modes=("eager",))
WANTED = Wanted(server=False, modes=("eager",))
RESUMED = Wanted(server=False, modes=("eager",), resume=True)


def noted(places: Places) -> set[str]:
    notes = (places.state / "runs").glob("*/*/equality/*.finished.json")
    return {each.name.removesuffix(".finished.json") for each in notes}


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def full_for_a_record(*_: object) -> Path:
    raise LanewrightError("cannot write record.json: No space left on device")


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("lies", "message"),
    [
        ({}, ""),
        ({"flip": {"place": [2, 5], "what": "token"}}, "with its baseline: differs"),
        ({"replaced": True}, "equality, eager.off: moe_usage_counter is off, and worker"),
    ],
)
def test_what_could_not_be_recorded_can_be_had_again(
    places: Places,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lies: dict[str, Any],
    message: str,
) -> None:
    lay_pin(tmp_path / "pin")
    lane = lay_stand_in(tmp_path, lies=lies)
    with monkeypatch.context() as patched:
        patched.setattr(running, "write_record", full_for_a_record)
        with pytest.raises(LanewrightError, match="cannot write record"):
            run(places, lane, WANTED, asked=ASKED)
    assert noted(places) == ARMS
    with pytest.raises(MismatchError, match=message) if lies else nullcontext():
        run(places, lane, RESUMED, asked=ASKED)
    resumed = places.state / "runs" / "sample" / Path(latest(places)["folder"]).name / "equality"
    assert not [*resumed.glob("*.spec.json")]
    assert noted(places) == set()


@pytest.mark.usefixtures("model")
def test_arms_that_could_not_be_judged_are_kept_and_told(
    places: Places,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lay_pin(tmp_path / "pin")
    monkeypatch.setattr(comparing, "judge", full)
    with pytest.raises(OSError, match="No space left"):
        run(places, lay_stand_in(tmp_path), WANTED, asked=ASKED)
    assert latest(places)["verdict"] == "failed"
    assert noted(places) == ARMS
    assert "4 of 4 arms are finished and kept; to go on behind them: " in capsys.readouterr().err


@pytest.mark.usefixtures("model")
def test_arms_that_could_not_be_proven_are_kept(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_pin(tmp_path / "pin")
    monkeypatch.setattr(comparing, "prove", full)
    with pytest.raises(OSError, match="No space left"):
        run(places, lay_stand_in(tmp_path), WANTED, asked=ASKED)
    assert noted(places) == ARMS
