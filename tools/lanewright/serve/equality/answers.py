"""What the engines of both trees answer, those that are taken from an earlier run among them."""

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeAlias

from lanewright.serve.child import BootError, watch_each
from lanewright.serve.engines import result_name, starting
from lanewright.serve.equality.earlier import Arms, Resumed
from lanewright.serve.equality.key import Side
from lanewright.terminal import stage

# Compiled code of one tree must not answer for another.
ENVIRON = {"VLLM_DISABLE_COMPILE_CACHE": "1"}
# By the name of its arm.
Answers: TypeAlias = dict[str, dict[str, Any]]


def answers_of(
    pin: Side, lane: Side, model: Path, finished: Arms, resumed: Mapping[str, Resumed]
) -> tuple[Answers, Answers]:
    """What every arm of the pin and of the lane found; those that are taken are not booted.

    Both run at once where each keeps to cores of its own.

    Args:
        pin: The baseline.
        lane: What is held against it.
        model: Folder of the model.
        finished: Where files and notes go.
        resumed: The arms that are taken, by name.

    Raises:
        BootError: An engine died or hung; where it is the pin's, that says nothing of the lane.
        MismatchError: What ran was not the tree.
    """
    if pin.cores and lane.cores:
        each = f"{len(pin.cores)} core{'s' * (len(pin.cores) > 1)}"
        with stage(f"equality, unpatched pin and lane at once, each on {each}"):
            _run((pin, lane), pin, model, finished, resumed)
    else:
        with stage("equality, unpatched pin"):
            _run((pin,), pin, model, finished, resumed)
        with stage("equality, lane"):
            _run((lane,), pin, model, finished, resumed)
    return _read(pin, finished.folder), _read(lane, finished.folder)


def _run(
    sides: Sequence[Side], pin: Side, model: Path, finished: Arms, resumed: Mapping[str, Resumed]
) -> None:
    """Boot what is left of these sides, all at once.

    Without the pin the lane is compared with nothing, so that its end ends the lane; what becomes
    of the lane is told once the pin has ended.
    """
    left = {side.name: [arm for arm in side.arms if arm.name not in resumed] for side in sides}
    with ExitStack() as stack:
        running = {
            side.name: stack.enter_context(
                starting(
                    side.env,
                    model,
                    left[side.name],
                    finished.folder,
                    name=side.name,
                    environ=ENVIRON,
                    notes=finished.notes(side),
                    cores=side.cores,
                )
            )
            for side in sides
            if left[side.name]
        }
        children = [each.child for each in running.values()]
        ended: dict[str, int] = {}
        try:
            for child, status in watch_each(children, seconds=pin.env.patience):
                ended[child.name] = status
                if child.name == pin.name:
                    running[pin.name].found(status)
        except BootError as error:
            if error.who != pin.name:
                raise
            raise BootError(
                f"no baseline, so nothing was compared: the unpatched {error}", hint=error.hint
            ) from error
        for name, status in ended.items():
            running[name].found(status)


def _read(side: Side, folder: Path) -> Answers:
    files = {arm.name: folder / result_name(side.name, arm) for arm in side.arms}
    return {name: json.loads(file.read_text()) for name, file in files.items()}
