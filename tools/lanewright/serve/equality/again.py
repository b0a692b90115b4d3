"""Judge a tree by one arm of a failed run: ``python -m lanewright.serve.equality.again SUSPECT``.

For ``bisect``, which lays one tree after another out and names it in ``LANEWRIGHT_TREE``. Ends with
0 where the arm answers as the baseline did and proves what it must, 1 where not, 125 where no
engine comes up, and 128 where nothing can be said.
"""

import os
import sys
import tempfile
import traceback
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from lanewright.errors import LanewrightError, MismatchError
from lanewright.queue.culprit.judge import NOT_TESTABLE
from lanewright.serve.boot import engine_arguments
from lanewright.serve.child import BootError
from lanewright.serve.engines import Arm, starting
from lanewright.serve.environment import LaneEnv
from lanewright.serve.equality.arms import LaneArm
from lanewright.serve.equality.compare import Answer, diverge
from lanewright.serve.equality.run import proven
from lanewright.serve.equality.sharing import as_many
from lanewright.serve.equality.suspect import Suspect
from lanewright.serve.features import carries_bank, switched_on, without_features
from lanewright.terminal import say

GOOD, BAD, NO_VERDICT = 0, 1, 128
# What an arm is given beside its features.
SETTINGS = ("enforce_eager", "enable_prefix_caching")


def main(file: str) -> int:
    """Judge the tree that ``LANEWRIGHT_TREE`` names."""
    suspect = msgspec.json.decode(Path(file).read_bytes(), type=Suspect)
    env = LaneEnv(
        python=Path(suspect.python),
        site=Path(os.environ["LANEWRIGHT_TREE"]),
        bytecode=Path(suspect.bytecode),
        shims=suspect.shims,
    )
    on = suspect.engine if carries_bank(env) else without_features(suspect.engine)
    try:
        return _judged(suspect, env, on)
    except BootError as error:
        said = error
    if switched_on(on):
        say("  it does not boot with its features on; without them:")
        try:
            return _judged(suspect, env, without_features(on))
        except BootError as error:
            said = error
    say(str(said))
    return NOT_TESTABLE


def _judged(suspect: Suspect, env: LaneEnv, engine: Mapping[str, object]) -> int:
    off = not switched_on(engine)
    settings = {n: v for n, v in suspect.arm["engine"].items() if n in SETTINGS}
    whole = {**engine, **(suspect.plain if off else {}), **settings}
    given = msgspec.convert(suspect.arm, Arm)
    arm = replace(
        given,
        engine=engine_arguments(env, whole, suspect.device),
        calls=() if off else given.calls,
        workers=carries_bank(env),
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        starting(
            env,
            Path(suspect.model),
            [arm],
            Path(folder),
            name="again",
            environ=suspect.environ,
            cores=as_many(suspect.cores),
        ) as running,
    ):
        (found,) = running.wait()
    if suspect.expected is not None:
        verdict = _compared(suspect.expected, found)
    else:
        verdict = _proven(env, LaneArm(arm, engine, suspect.swaps and not off), found)
    if verdict == GOOD and off and switched_on(suspect.engine) and _parts():
        # It may be what is to blame that was not reached.
        say("  good without its features, which says nothing of them")
        return NOT_TESTABLE
    return verdict


def _parts() -> bool:
    """Whether the tree has anything of the lane; the pin cannot have its features."""
    return bool(Path(os.environ["LANEWRIGHT_PARTS"]).read_bytes())


def _proven(env: LaneEnv, arm: LaneArm, found: Mapping[str, Any]) -> int:
    try:
        proven(env, arm, found)
    except MismatchError as error:
        say(f"  {error}")
        return BAD
    return GOOD


def _compared(expected: Mapping[str, Any], found: Mapping[str, Any]) -> int:
    passes = [(expected["completions"], found["completions"])]
    passes += [(answers, found["together"][n]) for n, answers in expected["together"].items()]
    for theirs, ours in passes:
        for number, (one, other) in enumerate(zip(theirs, ours, strict=True), 1):
            if parted := diverge(number, Answer.read(one), Answer.read(other)):
                say(f"  prompt {number}, index {parted.index}: another {parted.what}")
                return BAD
    return GOOD


if __name__ == "__main__":
    try:
        status = main(*sys.argv[1:])
    except (LanewrightError, OSError) as error:
        say(f"lanewright: {error}")
        status = NO_VERDICT
    except Exception:  # noqa: BLE001 - Python's own 1 would say that the tree is bad
        say(traceback.format_exc())
        status = NO_VERDICT
    sys.exit(status)
