"""Runs a script of ``inside/`` with a laid lane's Python and model."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lanewright.guarded import ended
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.series_model import ModelSpec
from lanewright.serve.boot import engine_arguments
from lanewright.serve.child import child, watch
from lanewright.serve.lane import lay_lane
from lanewright.serve.served import served_model

INSIDE = Path(__file__).parent / "inside"
STEP_SECONDS = 900.0
Facts = dict[str, Any]


def run_inside(
    script: str,
    lane: str | None,
    engine: Mapping[str, object],
    spec: Mapping[str, Any],
    folder: Path,
    *,
    recipe: str | None = None,
) -> Facts:
    """Lay a lane and run a script in it.

    Args:
        script: Of ``inside/``; it is given a JSON file.
        lane: Its name; None for the project's default.
        engine: Engine arguments beside the lane's.
        spec: What is in that file beside ``model``, ``engine`` and ``result``, the file to write.
        folder: For all three, and for the log.
        recipe: Of the model, where that is not the lane's.

    Returns:
        What the script wrote.

    Raises:
        BootError: It failed or hung.
    """
    project, places = Project.find(Path.cwd()), Places.of_user()
    laid = lay_lane(project, places, lane or project.upstream.default_lane)
    wants = replace(laid.model, spec=ModelSpec(recipe=recipe)) if recipe else laid.model
    model = served_model(places, laid.env, wants).folder
    arguments = engine_arguments(laid.env, {**laid.engine, **engine}, laid.device)
    file, result = folder / "spec.json", folder / "result.json"
    whole = {"model": str(model), "engine": arguments, **spec, "result": str(result)}
    file.write_text(json.dumps(whole))
    given = laid.env.environ()
    environ = {
        **given,
        "PYTHONPATH": f"{given['PYTHONPATH']}:{INSIDE}",
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    }
    command = [str(laid.env.python), str(INSIDE / script), str(file)]
    with child("bench", command, environ=environ, log=folder / "log") as running:
        if status := watch(running, seconds=STEP_SECONDS):
            raise running.died(ended(status))
    found: Facts = json.loads(result.read_text())
    return found
