"""Engines whose drafts are earlier tokens, asked one by one and at once: ``ngram_drafts.py SPEC``.

A job has ``name``; ``model``; ``engine`` (keyword arguments of ``vllm.LLM``); ``call`` (a method of
the worker extension and its arguments, or None); ``prompts``, ``tokens`` (of an answer) and
``together`` (how many prompts at once, behind the run one by one); ``result``.
"""

import random
import sys
from dataclasses import asdict
from typing import Any

import forks
import logprobs
import speculative

ORDINARY = 500


def run(job: forks.Job) -> dict[str, Any]:
    """Boot a job's engine, answer, and tell what was drafted and counted."""
    from vllm import LLM  # noqa: PLC0415 - imported by the parent already

    llm = LLM(model=job["model"], **job["engine"])
    drafts = speculative.Drafts()
    drafts.watch(llm.llm_engine.engine_core.engine_core.scheduler)
    if job["call"]:
        method, *arguments = job["call"]
        llm.collective_rpc(method, args=tuple(arguments))
    asked, answers = [], []
    for at_once in (1, job["together"]):
        for start in range(0, job["prompts"], at_once):
            numbers = range(start, min(start + at_once, job["prompts"]))
            for output in ask(llm, [*numbers], job["tokens"]):
                answers.append(output.outputs[0])
                asked.append(
                    {
                        "prompt": len(output.prompt_token_ids),
                        "outputs": [len(answers[-1].token_ids)],
                        "cached": output.num_cached_tokens or 0,
                    }
                )
    return {
        "asked": asked,
        "ids": [list(each.token_ids) for each in answers],
        "bits": [logprobs.bits(each) for each in answers],
        "drafts": asdict(drafts),
        "banks": llm.collective_rpc("expert_bank_banks")[0],
    }


def ask(llm: Any, numbers: list[int], tokens: int) -> Any:  # noqa: ANN401 - vLLM's
    """Go on with prompts; every second one repeats two tokens, and so does its answer."""
    from vllm import SamplingParams  # noqa: PLC0415 - the same

    prompts, wanted = [], []
    for number in numbers:
        source = random.Random(f"ngram {number}")  # noqa: S311 - no secret
        few = number % 2
        ids = speculative.TOKENS if few else range(ORDINARY)
        prompts.append({"prompt_token_ids": source.choices(ids, k=4 + 5 * number)})
        allowed = list(speculative.TOKENS) if few else None
        wanted.append(
            SamplingParams(
                temperature=0,
                max_tokens=tokens,
                ignore_eos=True,
                logprobs=1,
                allowed_token_ids=allowed,
            )
        )
    return llm.generate(prompts, wanted, use_tqdm=False)


if __name__ == "__main__":
    forks.run_all(run, *sys.argv[1:])
