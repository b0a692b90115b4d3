"""Runs the scripts of ``inside/`` by a laid lane's Python."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanewright.serve.boot import engine_arguments
from lanewright.serve.child import Child, child, watch
from lanewright.serve.engines import SCRIPT
from lanewright.serve.features import carries_bank, without_features
from lanewright.serve.lane import Lane

INSIDE = Path(__file__).parent / "inside"
# Where the shims are that a lane may name.
TOOLS = SCRIPT.parent
SECONDS = 1200.0
# All engines count, unless a job says otherwise.
COUNTING = {"max_model_len": 512, "max_num_seqs": 16, "moe_usage_counter": True}


@dataclass(frozen=True)
class Laid:
    """A lane laid out for real, with its model."""

    lane: Lane
    model: Path

    def run(
        self, script: str, *arguments: str, folder: Path, environ: Mapping[str, str] | None = None
    ) -> None:
        """Run a script of ``inside/``; fails with the end of its log."""
        with self.started(script, *arguments, folder=folder, environ=environ) as running:
            if watch(running, seconds=SECONDS):
                raise running.died("failed")

    @contextmanager
    def started(
        self, script: str, *arguments: str, folder: Path, environ: Mapping[str, str] | None = None
    ) -> Iterator[Child]:
        """Run a script of ``inside/`` while the block runs."""
        given = self.lane.env.environ()
        whole = {
            **given,
            "PYTHONPATH": f"{given['PYTHONPATH']}:{INSIDE}:{TOOLS}",
            "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
            **(environ or {}),
        }
        command = [str(self.lane.env.python), str(INSIDE / script), *arguments]
        with child(script, command, environ=whole, log=folder / f"{script}.log") as running:
            yield running

    def failures(self, script: str, *, folder: Path) -> dict[str, str | None]:
        """Run a script of checks, on one core; by check, why it failed."""
        result = folder / "result.json"
        self.run(script, str(result), folder=folder, environ={"OMP_NUM_THREADS": "1"})
        found: dict[str, str | None] = json.loads(result.read_text())
        return found

    def run_jobs(
        self,
        script: str,
        jobs: Sequence[Mapping[str, Any]],
        *,
        folder: Path,
        environ: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Run jobs that have ``name`` and ``engine``; what each gave back, by its name.

        A job may name another ``model`` than the lane's. None as an engine argument takes out one
        that all have and the lane's vLLM does not know.
        """
        env = self.lane.env
        common = COUNTING if carries_bank(env) else without_features(COUNTING)
        results = {job["name"]: folder / f"{job['name']}.json" for job in jobs}
        spec = [
            {
                "model": str(self.model),
                **job,
                "engine": engine_arguments(env, _given({**common, **job["engine"]}), "cpu"),
                "result": str(results[job["name"]]),
            }
            for job in jobs
        ]
        spec_file = folder / "spec.json"
        spec_file.write_text(json.dumps(spec))
        self.run(script, str(spec_file), folder=folder, environ=environ)
        return {name: json.loads(file.read_text()) for name, file in results.items()}


def _given(engine: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in engine.items() if value is not None}
