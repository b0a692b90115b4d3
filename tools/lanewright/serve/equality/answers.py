"""What the engines of one tree answer, those that are taken from an earlier run among them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lanewright.serve.child import BootError
from lanewright.serve.engines import result_name, run_arms
from lanewright.serve.equality.earlier import Arms, Resumed
from lanewright.serve.equality.key import Side

# Compiled code of one tree must not answer for another.
ENVIRON = {"VLLM_DISABLE_COMPILE_CACHE": "1"}


def answers_of(
    side: Side, model: Path, finished: Arms, resumed: Mapping[str, Resumed]
) -> dict[str, dict[str, Any]]:
    """What every arm of a side found, by its name; those that are taken are not booted."""
    left = [arm for arm in side.arms if arm.name not in resumed]
    folder, notes = finished.folder, finished.notes(side)
    if left:
        run_arms(side.env, model, left, folder, name=side.name, environ=ENVIRON, notes=notes)
    files = {arm.name: folder / result_name(side.name, arm) for arm in side.arms}
    return {name: json.loads(file.read_text()) for name, file in files.items()}


def of_baseline(
    pin: Side, model: Path, finished: Arms, resumed: Mapping[str, Resumed]
) -> dict[str, dict[str, Any]]:
    """What every arm of the pin found.

    Raises:
        BootError: The pin died or hung, which says nothing of the lane.
    """
    try:
        return answers_of(pin, model, finished, resumed)
    except BootError as error:
        raise BootError(
            f"no baseline, so nothing was compared: the unpatched {error}", hint=error.hint
        ) from error
