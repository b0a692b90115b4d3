"""What of a lane is another than in a run of it that failed, though its tree is the same."""

import json
from collections.abc import Iterator, Mapping, Sequence

from lanewright.serve.equality.failed import FailedRun
from lanewright.serve.equality.leavings import Record
from lanewright.serve.lane import Lane
from lanewright.serve.served import called, identity


def require_unedited(lane: Lane, run: FailedRun) -> None:
    """Go on where a lane is booted as it was in a run: else its baseline's answers say nothing.

    Args:
        lane: As it is laid out here.
        run: Of the lane's tree; what an earlier lanewright did not record of it is passed over.

    Raises:
        LanewrightError: Its series, the model or what the environment is made of was edited since.
    """
    if edits := "; ".join(_edits(lane, run.told)):
        raise run.unfit(run.record, f"the lane was edited since that run: {edits}")


def _edits(lane: Lane, before: Record) -> Iterator[str]:
    if before.engine is not None:
        yield from _of_engine(before.engine, json.loads(json.dumps(dict(lane.engine))))
    if before.shims is not None and tuple(before.shims) != lane.env.shims:
        yield f"[boot] shims {_list(before.shims)} -> {_list(lane.env.shims)}"
    if model := before.model:
        recipe = lane.model.spec.recipe
        was, now = model.recipe or model.name, recipe or called(lane.model)
        if (model.recipe, was) != (recipe, now):
            yield f"[model] {was} -> {now}"
        elif model.hash != (digest := identity(lane.model)):
            yield f"[model] {now} is of {digest[:12]}, and was of {model.hash[:12]}"
    if before.environment and before.environment.base != lane.env.base:
        yield f"environment {before.environment.base} -> {lane.env.base}"


def _of_engine(was: Mapping[str, object], now: Mapping[str, object]) -> Iterator[str]:
    """Engine arguments that are others, by their names."""
    for name in sorted(was.keys() | now.keys()):
        one, other = (
            json.dumps(told[name], ensure_ascii=False, sort_keys=True) if name in told else "none"
            for told in (was, now)
        )
        if one != other:
            yield f"[engine] {name} {one} -> {other}"


def _list(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
