"""Counts by bank beside a routing trace of the same run: ``tier_trace.py SPEC``, a list of jobs.

A job has ``name``; ``model``; ``engine`` (keyword arguments of ``vllm.LLM``); ``result``. Its
prompts come one at a time, then at once, some in chunks, with rows swapped all along. An engine that
drafts is asked what makes it draft.
"""

import random
import sys
from dataclasses import asdict
from typing import Any

import forks
from speculative import Drafts, repetitive

LENGTHS = (1, 7, 64, 65, 200, 31, 128, 3)
ORDINARY = 500  # token ids below the special ones


def run(job: forks.Job) -> dict[str, Any]:
    """Boot a job's engine, ask, and give what was counted and what the trace comes to."""
    from bench import Bench  # noqa: PLC0415 - it imports vLLM, which the parent did
    from traced import boot, by_bank  # noqa: PLC0415 - the same

    llm, traced = boot(job["model"], job["engine"])
    bench, drafts = Bench(llm, None), Drafts()
    drafts.watch(llm.llm_engine.engine_core.engine_core.scheduler)
    found = bench.during(repetitive if "speculative_config" in job["engine"] else of_all_lengths)
    (banks,) = llm.collective_rpc("expert_bank_banks")
    return {**found, **by_bank(traced), "drafts": asdict(drafts), "banks": banks}


def of_all_lengths(bench: Any) -> list[Any]:  # noqa: ANN401 - it imports vLLM
    """Ask prompts of all lengths alone, and then at once."""
    draw = random.Random("tiers")  # noqa: S311 - no secret
    prompts = [[draw.randrange(ORDINARY) for _ in range(length)] for length in LENGTHS]
    alone = [asked for prompt in prompts for asked in bench.ask([prompt], max_tokens=24)]
    return alone + list(bench.ask(prompts, max_tokens=24))


if __name__ == "__main__":
    forks.run_all(run, *sys.argv[1:])
