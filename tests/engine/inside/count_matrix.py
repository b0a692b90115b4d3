"""Boot counting engines and run scenarios in each: ``count_matrix.py SPEC``, a list of jobs.

A job has ``name``; ``model``; ``engine`` (keyword arguments of ``vllm.LLM``); ``scenarios``;
``ahead`` (whether the scheduler runs a step ahead); ``captured`` (whether vLLM's own capture
function records the picks, too); ``result``.
"""

import sys
from typing import Any

import forks


def run(job: forks.Job) -> dict[str, Any]:
    """Boot a job's engine and run its scenarios."""
    from bench import Bench, Routed  # noqa: PLC0415 - they import vLLM, which the parent did
    from scenarios import ALL  # noqa: PLC0415 - the same
    from vllm import LLM  # noqa: PLC0415 - the same

    routed = Routed() if job["captured"] else None
    if job["ahead"]:
        from run_ahead import force  # noqa: PLC0415 - the same

        force()
    llm = LLM(model=job["model"], **job["engine"])
    bench = Bench(llm, routed)
    config = llm.llm_engine.vllm_config
    return {
        "boot": bench.usage(),
        "compiled": config.compilation_config.mode.name != "NONE",
        "ahead": config.scheduler_config.async_scheduling,
        "scenarios": {name: _told(job, name, bench, ALL[name]) for name in job["scenarios"]},
    }


def _told(job: forks.Job, name: str, bench: Any, scenario: Any) -> dict[str, Any]:  # noqa: ANN401
    forks.tell(job["name"], name)
    return dict(bench.during(scenario))


if __name__ == "__main__":
    forks.run_all(run, *sys.argv[1:])
