"""``equal`` and ``boot --equal`` that are stopped half-way, and ``--resume`` behind it."""

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.commands.stand_in_lane import Lay
from tests.conftest import World
from tests.process import finish, start

Capture = pytest.CaptureFixture[str]
# An eager engine with the feature on does not come up while the model's folder holds this file.
STOP = "stop"
ON = 'arguments.enforce_eager and getattr(arguments, "moe_usage_counter", False)'
EDIT = (
    "vllm/engine.py",
    'if "hangs" in self.lies:',
    f'if {ON} and os.path.exists(f"{{arguments.model}}/{STOP}"):',
)
FINISHED = [f"{mode}.{name}" for mode in ("eager", "compiled") for name in ("baseline", "self")]
FINISHED += ["eager.off"]


def stopped(world: World, number: int, *command: str) -> tuple[int, str]:
    """Send a run a signal once it is at an engine that does not come up; its code and its talk.

    The pin, which runs at the same time, is done with by then.
    """
    (model,) = world.places.models.iterdir()
    (model / STOP).touch()
    process = start(world.root, *command)
    while not any("told to hang" in log.read_text() for log in logs(world)) or not pin_done(world):
        assert process.poll() is None, finish(process)
        time.sleep(0.05)
    process.send_signal(number)
    code, out, talk = finish(process)
    assert out == ""
    (model / STOP).unlink()
    return code, talk


def pin_done(world: World) -> bool:
    """Whether each arm that a run's pin is asked for has been noted as finished."""
    for spec in world.places.state.glob("runs/*/*/equality/pin.spec.json"):
        arms = json.loads(spec.read_text())["arms"]
        if not all(Path(arm["note"]["file"]).exists() for arm in arms):
            return False
    return True


def logs(world: World) -> list[Path]:
    return [*world.places.state.glob("runs/*/*/equality/lane.log")]


def records(world: World) -> list[dict[str, Any]]:
    """Every record, oldest first."""
    files = sorted(world.places.state.glob("runs/sample/*/record.json"))
    return [json.loads(file.read_text()) for file in files]


@pytest.mark.parametrize(
    ("command", "again", "number", "code"),
    [
        (["equal"], "equal sample", signal.SIGKILL, -9),
        (["equal"], "equal sample", signal.SIGINT, 130),
        (["boot", "--equal"], "boot sample --equal", signal.SIGTERM, 143),
    ],
)
def test_a_run_that_was_stopped_is_gone_on_with(
    lay: Lay, capfd: Capture, command: list[str], again: str, number: int, code: int
) -> None:
    world = lay(edit=EDIT)
    found, talk = stopped(world, number, *command)
    assert found == code
    kept = f"5 of 8 arms are finished and kept; to go on behind them: lanewright {again} --resume\n"
    assert (kept in talk) == (number != signal.SIGKILL)
    before = records(world)
    assert len(before) == (number != signal.SIGKILL)
    assert all(each["equality"] is None for each in before)
    capfd.readouterr()
    assert world.run(*command, "--resume") == 0
    captured = capfd.readouterr()
    assert f"resuming: 5 of 8 arms are taken: {', '.join(FINISHED)}\n" in captured.err
    last = records(world)[-1]
    assert last["equality"]["verdict"] == "equal"
    assert [*last["equality"]["resumed"]] == FINISHED
    (run,) = {each["run"] for each in last["equality"]["resumed"].values()}
    assert (world.places.state / "runs" / "sample" / run / "equality" / "lane.log").exists()
    assert run != Path(last["folder"]).name
    assert "  equality equal, resumed: baseline is the unpatched pin's tree" in captured.out
    assert captured.out.count(f" is of run {run}, finished 20") == 5
    spec = json.loads((Path(last["folder"]) / "equality" / "lane.spec.json").read_text())
    assert [arm["name"] for arm in spec["arms"]] == ["eager.on", "compiled.off", "compiled.on"]
    assert not [*world.places.state.rglob("*.finished.json")]


def test_an_edit_in_between_has_the_pin_taken_alone_and_the_mode_is_named(
    lay: Lay, capfd: Capture
) -> None:
    world = lay(edit=EDIT)
    _, talk = stopped(world, signal.SIGINT, "equal", "--mode", "eager")
    assert (
        "3 of 4 arms are finished and kept; to go on behind them: lanewright equal sample" in talk
    )
    assert " --mode eager --resume\n" in talk
    world.edit("overlay/expert_bank/__init__.py", "A stand-in", "Another stand-in")
    assert world.run("build") == 0
    capfd.readouterr()
    assert world.run("equal", "--mode", "eager", "--resume") == 0
    told = "resuming: 2 of 4 arms are taken: eager.baseline, eager.self\n"
    assert told in capfd.readouterr().err


def test_nothing_is_taken_where_the_model_was_made_again_with_other_weights(
    lay: Lay, capfd: Capture
) -> None:
    world = lay(edit=EDIT)
    (model,) = world.places.models.iterdir()
    weights = model / "model.safetensors"
    weights.write_bytes(b"as they were trained first")
    stopped(world, signal.SIGINT, "equal", "--mode", "eager")
    weights.write_bytes(b"as they were trained again")
    capfd.readouterr()
    assert world.run("equal", "--mode", "eager", "--resume") == 0
    assert "nothing to resume: no earlier run has left" in capfd.readouterr().err
    assert records(world)[-1]["equality"]["resumed"] == {}
