"""``bisect --equal``: a hunk that makes answers differ, or a proof fail, is named."""

import json
import shutil
from pathlib import Path

import pytest

from tests.commands.stand_in_lane import Lay
from tests.conftest import World

Capture = pytest.CaptureFixture[str]
# Another token wherever the feature is on; and a feature that is never on.
WRONG = ("vllm/sampler.py", "    token = state %", "    token = (state + on) %")
IDLE = (
    "vllm/engine.py",
    'self.lies.get("counter", getattr(arguments, "moe_usage_counter", None))',
    'self.lies.get("counter", arguments.enforce_eager and None)',
)


def found(world: World, capfd: Capture, *command: str) -> str:
    """Have a comparison fail, and search; the part that is to blame."""
    assert world.run(*command) == 5
    capfd.readouterr()
    assert world.run("bisect", "--equal", "--json") == 0
    told = json.loads(capfd.readouterr().out)
    assert told["run"] is None
    # What its feature needs cannot be told to be to blame.
    (part,) = (each for each in told["parts"] if "untold" not in each)
    assert told["good_without"] == [part["part"]]
    assert {each["part"] for each in told["parts"]} > {part["part"], "expert_bank"}
    assert len(part["texts"]) == 1
    return str(part["part"])


def test_an_answer_that_differs(lay: Lay, capfd: Capture) -> None:
    world = lay(edit=WRONG)
    part = found(world, capfd, "equal")
    assert part.startswith("hook:vllm/sampler.py:")
    assert world.run("drop", part) == 0
    assert world.run("build") == 0
    assert world.run("equal") == 0


def test_a_proof_that_fails_in_a_boot(lay: Lay, capfd: Capture) -> None:
    part = found(lay(edit=IDLE), capfd, "boot", "--no-server")
    assert part.startswith("hook:vllm/engine.py:")


def test_a_proof_that_fails_in_the_comparison(lay: Lay, capfd: Capture) -> None:
    part = found(lay(edit=IDLE), capfd, "equal")
    assert part.startswith("hook:vllm/engine.py:")


def test_where_nothing_failed_there_is_nothing_to_look_for(lay: Lay, capfd: Capture) -> None:
    world = lay()
    for _ in range(2):
        capfd.readouterr()
        assert world.run("bisect", "--equal") == 1
        err = capfd.readouterr().err
        assert "has no answer that differs, and no proof that failed" in err
        assert "next: lanewright equal sample" in err
        assert world.run("equal") == 0


def test_answers_that_were_removed_are_told(lay: Lay, capfd: Capture) -> None:
    world = lay(edit=WRONG)
    assert world.run("equal") == 5
    (folder,) = world.places.state.glob("runs/sample/*/equality")
    shutil.rmtree(folder)
    capfd.readouterr()
    assert world.run("bisect", "--equal") == 1
    assert str(Path("equality", "pin.eager.baseline.json")) in capfd.readouterr().err


@pytest.mark.parametrize(
    "words", [[], ["--equal", "--run", "true"], ["--equal", "--env"]], ids=" ".join
)
def test_what_judges_is_said_once(lay: Lay, words: list[str]) -> None:
    world = lay()
    with pytest.raises(SystemExit) as ended:
        world.run("bisect", *words)
    assert ended.value.code == 2
