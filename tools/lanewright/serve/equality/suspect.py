"""What of a failed run is tried again in other trees: one arm, as far as the answer that differed."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from lanewright.errors import LanewrightError, MismatchError
from lanewright.project import Device
from lanewright.serve.asking import boot_prompts
from lanewright.serve.engines import Arm, result_name
from lanewright.serve.equality.answers import ENVIRON
from lanewright.serve.equality.arms import LaneArm, lane_arms
from lanewright.serve.equality.asked import MODES, Mode
from lanewright.serve.equality.budget import Budget
from lanewright.serve.equality.failed import FailedRun
from lanewright.serve.equality.found import whole
from lanewright.serve.equality.leavings import Expected
from lanewright.serve.equality.prompts import prompts_for
from lanewright.serve.equality.run import proven
from lanewright.serve.lane import Lane
from lanewright.serve.length import answer_tokens
from lanewright.terminal import quoted

FOLDER = "equality"


class Suspect(msgspec.Struct, frozen=True, kw_only=True):
    """An arm that failed.

    Attributes:
        run: Name of the run's folder.
        told: What failed, in a line.
        python: Interpreter of the lane.
        bytecode: Where that keeps compiled files.
        shims: What the machine lacks for the lane.
        device: What the lane runs on.
        model: Folder of its model.
        engine: Arguments that say which features are on.
        plain: The same where all of ours are off.
        arm: What is booted and asked.
        swaps: Whether rows must have been swapped in it.
        environ: Variables beside the lane's own.
        cores: How many an engine keeps to, as it did in the run; None for all.
        expected: The baseline's result, as far as it is asked for; None where not an answer, but
            what a feature must prove, failed.
    """

    run: str
    told: str
    python: str
    bytecode: str
    shims: tuple[str, ...]
    device: Device
    model: str
    engine: dict[str, Any]
    plain: dict[str, Any]
    arm: dict[str, Any]
    swaps: bool
    environ: dict[str, str]
    cores: int | None
    expected: dict[str, Any] | None


@dataclass(frozen=True)
class _Failed:
    arm: LaneArm
    told: str
    expected: Expected | None = None


def suspect_of(lane: Lane, model: Path, run: FailedRun) -> Suspect:
    """Take the arm of a failed run that is tried again.

    Args:
        lane: As it is laid out here.
        model: Folder of its model.
        run: Of the lane's tree.

    Raises:
        LanewrightError: No answer of the run differs, and no proof failed; or what it left is
            damaged, or answers what the lane is no longer asked.
    """
    failed = _differing(lane, model, run) or _unproven(lane, model, run)
    if failed is None:
        message = run.message.partition("\n")[0]
        raise LanewrightError(
            f"lane {lane.lock.lane}: of run {run.folder.name} no arm of the lane fails by itself:"
            f" {message}",
            hint=f"read {quoted(run.record)}",
        )
    arm = failed.arm
    booted = arm.arm.name == "boot"
    return Suspect(
        run=run.folder.name,
        told=failed.told,
        python=str(lane.env.python),
        bytecode=str(lane.env.bytecode),
        shims=lane.env.shims,
        device=lane.device,
        model=str(model),
        engine=dict(arm.engine),
        plain={**lane.asked.baseline},
        arm=msgspec.to_builtins(arm.arm),
        swaps=arm.swaps,
        environ={} if booted else dict(ENVIRON),
        cores=None if booted or not run.equality else run.equality.cores,
        expected=msgspec.to_builtins(failed.expected),
    )


def _differing(lane: Lane, model: Path, run: FailedRun) -> _Failed | None:
    """The first arm an answer of which differs."""
    if not run.equality or run.equality.verdict != "differs":
        return None
    arms = _arms(lane, model, run.folder)
    for mode in run.equality.modes:
        # One that is inconclusive shows nothing.
        for row in mode.rows if mode.verdict == "differs" else ():
            if row.role != "arm" or not row.first:
                continue
            name, _, at_once = row.arm.partition(", ")
            if not (arm := arms.get(f"{mode.mode}.{name}")):
                raise run.unfit(run.record, f"the lane has no arm {mode.mode}.{name} any more")
            expected = _expected(run, mode.mode, arm)
            number = row.first.number
            if number > len(arm.arm.prompts):
                raise run.unfit(run.record, f"it is damaged: there is no prompt {number}")
            told = f"{arm.arm.name}: prompt {number}, index {row.first.index}"
            if at_once:
                return _Failed(arm, f"{told}, {at_once}", expected)
            # Up to it: what went before has moved maps, and filled caches.
            prompts = list(arm.arm.prompts)[:number]
            short = replace(arm.arm, prompts=prompts, together=())
            cut = Expected(expected.completions[:number], {})
            return _Failed(replace(arm, arm=short), told, cut)
    return None


def _expected(run: FailedRun, mode: Mode, of: LaneArm) -> Expected:
    """The baseline's answers to what an arm is asked."""
    file = run.folder / FOLDER / f"pin.{mode}.baseline.json"
    expected, arm = run.expected(file), of.arm
    passes = [expected.completions, *expected.together.values()]
    if (
        [*expected.together] != [str(count) for count in arm.together]
        or any([each.prompt for each in one] != [*arm.prompts] for one in passes)
        or any(len(each.ids) != arm.max_tokens for one in passes for each in one)
    ):
        raise run.unfit(file, "it does not answer what the lane's [equality] asks now")
    if not all(map(whole, (each for one in passes for each in one))):
        raise run.unfit(file, "it is damaged: an answer has not the logprobs of all its tokens")
    return expected


def _unproven(lane: Lane, model: Path, run: FailedRun) -> _Failed | None:
    """The first arm whose proof fails, by what it left behind; the boot's own is the very first."""
    if not (run.folder / FOLDER).is_dir():
        return _failing(lane, _boot(lane), run, run.folder / "offline.boot.json")
    for arm in _arms(lane, model, run.folder).values():
        file = run.folder / FOLDER / result_name("lane", arm.arm)
        if failed := _failing(lane, arm, run, file):
            return failed
    return None


def _failing(lane: Lane, arm: LaneArm, run: FailedRun, file: Path) -> _Failed | None:
    if (found := run.left(file)) is None:
        return None
    try:
        proven(lane.env, arm, found)
    except MismatchError as error:
        return _Failed(arm, str(error).partition("\n")[0])
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        # In the run the same proof came to an end: what its workers told is no longer all there.
        why = f"it is damaged: its proof ends in {type(error).__name__}: {error}"
        raise run.unfit(file, why) from error
    return None


def _arms(lane: Lane, model: Path, folder: Path) -> dict[str, LaneArm]:
    """The lane's arms by name, in every mode: a run may have been asked for any."""
    asked = replace(lane.asked, texts=prompts_for(model))
    place = folder / FOLDER
    budget = Budget(tuple(dict.fromkeys((*asked.modes, *MODES))))
    arms = lane_arms(budget, lane.engine, lane.env, lane.device, asked, place)
    return {arm.arm.name: replace(arm, arm=replace(arm.arm, keeps=None)) for arm in arms}


def _boot(lane: Lane) -> LaneArm:
    prompts, tokens = boot_prompts(lane.engine), answer_tokens(lane.engine)
    arm = Arm(name="boot", engine=lane.engine, prompts=prompts, max_tokens=tokens)
    return LaneArm(arm, lane.engine)
