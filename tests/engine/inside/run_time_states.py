"""Engines whose map is steered while they answer: ``run_time_states.py SPEC``.

A job has ``name``; ``model``; ``engine`` (keyword arguments of ``vllm.LLM``); ``calls`` (methods of
the worker extension and their arguments, each before the same prompts once more); ``result``.
"""

import sys
from typing import Any

import forks
import logprobs

PROMPTS = [[7, 300, 12, 45], [8] * 9, [*range(20, 52)]]


def run(job: forks.Job) -> dict[str, Any]:
    """Boot a job's engine, and tell hash and answers in each state."""
    from vllm import LLM  # noqa: PLC0415 - imported by the parent already

    llm = LLM(model=job["model"], **job["engine"])
    states = [state(llm, "boot")]
    for method, *arguments in job["calls"]:
        (told,) = llm.collective_rpc(method, args=tuple(arguments))
        states.append({**state(llm, method), "told": told})
    return {"states": states, "banks": llm.collective_rpc("expert_bank_banks")[0]}


def state(llm: Any, name: str) -> dict[str, Any]:  # noqa: ANN401 - vLLM's
    """Hash the configuration that worker and engine have, and answer."""
    from vllm import SamplingParams  # noqa: PLC0415 - the same

    parameters = SamplingParams(temperature=0, max_tokens=24, ignore_eos=True, logprobs=1)
    given = [{"prompt_token_ids": prompt} for prompt in PROMPTS]
    answers = [each.outputs[0] for each in llm.generate(given, parameters, use_tqdm=False)]
    return {
        "state": name,
        "hash": llm.llm_engine.vllm_config.compute_hash(),
        "workers": llm.collective_rpc(hashed),
        "ids": [list(each.token_ids) for each in answers],
        "bits": [logprobs.bits(each) for each in answers],
    }


def hashed(worker: Any) -> list[str]:  # noqa: ANN401 - vLLM's
    """Hash the configuration that a worker, and its model runner, go by now."""
    runner = worker.model_runner
    return [each.vllm_config.compute_hash() for each in (worker, runner)]


if __name__ == "__main__":
    forks.run_all(run, *sys.argv[1:])
