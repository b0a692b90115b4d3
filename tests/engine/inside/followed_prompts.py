"""Boot engines whose map follows traffic, and ask them: ``followed_prompts.py SPEC``, a list of jobs.

A job has ``name``; ``model``; ``engine`` (keyword arguments of ``vllm.LLM``); ``records`` (whether picks
are recorded) and ``folder`` (where to); ``result``.
"""

import os
import sys
from typing import Any

import forks

# Around a block (32) and a chunk (64); the first of each three are asked again, from the prefix cache.
LENGTHS = (3, 33, 65, 130, 97, 12, 64, 150)


def run(job: forks.Job) -> dict[str, Any]:
    """Boot a job's engine, ask it, and tell its answers, its swaps and how the map stands."""
    from vllm import LLM  # noqa: PLC0415 - it imports what the parent did

    os.environ["EXPERT_BANK_RECORD"] = job["folder"]
    records = {"moe_record_picks": True} if job["records"] else {}
    llm = LLM(model=job["model"], **records, **job["engine"])
    banks = llm.llm_engine.model_executor.driver_worker.worker.two_bank
    made = watched(banks.barrier)
    answers = [answer for prompts in rounds() for answer in asked(llm, prompts)]
    (recorded,) = llm.collective_rpc("expert_bank_recorded")
    (told,) = llm.collective_rpc("expert_bank_banks")
    return {"answers": answers, "swaps": made, "recorded": recorded, "banks": told}


def watched(barrier: Any) -> list[list[Any]]:  # noqa: ANN401 - ours
    """Keep each barrier's swaps: before which forward, and layer, promoted, demoted of each."""
    made: list[list[Any]] = []
    swap = barrier.swap

    def swapped(swaps: Any, **more: Any) -> None:  # noqa: ANN401 - ours
        made.append(
            [barrier.totals.forwards, [[each.layer, each.promote, each.demote] for each in swaps]]
        )
        swap(swaps, **more)

    barrier.swap = swapped
    return made


def rounds() -> list[list[list[int]]]:
    """Prompts that are asked together, alone, and again."""
    from scenarios import prompts  # noqa: PLC0415 - it imports vLLM

    found = []
    for seed in ("a", "b", "c"):
        each = prompts(LENGTHS, f"followed {seed}")
        found += [each, *([one] for one in each[:3]), each[1:]]
    return found


def asked(llm: Any, prompts: list[list[int]]) -> list[list[Any]]:  # noqa: ANN401 - vLLM's
    """Ask greedily; tokens and logprob bits of each answer."""
    from logprobs import bits  # noqa: PLC0415 - the tests' own
    from vllm import SamplingParams  # noqa: PLC0415 - the same as above

    wanted = SamplingParams(temperature=0, max_tokens=16, logprobs=0, ignore_eos=True)
    given = [{"prompt_token_ids": each} for each in prompts]
    found = llm.generate(given, wanted, use_tqdm=False)
    return [[list(each.outputs[0].token_ids), bits(each.outputs[0])] for each in found]


if __name__ == "__main__":
    forks.run_all(run, *sys.argv[1:])
