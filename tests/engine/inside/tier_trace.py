"""Counts by bank beside a routing trace of the same run: ``tier_trace.py SPEC``, a list of jobs.

A job has ``name``; ``model``; ``engine`` (keyword arguments of ``vllm.LLM``); ``result``. Its
prompts come one at a time, then at once, some in chunks, with rows swapped all along.
"""

import random
import sys
from typing import Any
from unittest.mock import patch

import forks
import torch

LENGTHS = (1, 7, 64, 65, 200, 31, 128, 3)
ORDINARY = 500  # token ids below the special ones


def run(job: forks.Job) -> dict[str, Any]:
    """Boot a job's engine, ask, and give what was counted and what the trace comes to."""
    from bench import Routed  # noqa: PLC0415 - it imports vLLM, which the parent did
    from vllm import LLM, SamplingParams  # noqa: PLC0415 - the same

    from expert_bank.glue.worker import BankWorker  # noqa: PLC0415 - the same

    class Traced(Routed):
        """Looks every pick up in the table that its forward has."""

        two_bank: Any = None

        def _hook(self, router: Any) -> None:  # noqa: ANN401 - vLLM's
            layer = len(self.tables)
            table = torch.zeros(2, dtype=torch.int64)
            self.tables.append(table)

            def capture(ids: torch.Tensor) -> None:
                banks = self.two_bank.table.device[layer][0][ids.reshape(-1).long()].long()
                table.scatter_add_(0, banks, torch.ones_like(banks))

            router.set_capture_fn(capture)

    traced = Traced()
    load_model = BankWorker.load_model

    def loaded(worker: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - vLLM's
        load_model(worker, *args, **kwargs)
        # Before anything is compiled, so that compiled code looks its picks up, too.
        traced.two_bank = worker.two_bank

    with patch.object(BankWorker, "load_model", loaded):
        llm = LLM(model=job["model"], **job["engine"])
    for warm in traced.tables:
        warm.zero_()
    worker = llm.llm_engine.model_executor.driver_worker.worker
    llm.collective_rpc("expert_bank_force", args=(3, 3, 11))
    draw = random.Random("tiers")  # noqa: S311 - no secret
    prompts = [
        {"prompt_token_ids": [draw.randrange(ORDINARY) for _ in range(length)]}
        for length in LENGTHS
    ]
    parameters = SamplingParams(temperature=0, ignore_eos=True, max_tokens=24)
    for batch in (*([each] for each in prompts), prompts):
        llm.generate(batch, parameters, use_tqdm=False)
    (usage,), (banks,) = (
        llm.collective_rpc(name) for name in ("expert_bank_usage", "expert_bank_banks")
    )
    return {
        "counted": worker.two_bank.counter.by_bank().sum(axis=2).tolist(),
        "traced": traced.read().tolist(),
        "tokens": usage["tokens"],
        "asked": 2 * sum(length + 24 - 1 for length in LENGTHS),
        "banks": banks,
    }


if __name__ == "__main__":
    forks.run_all(run, *sys.argv[1:])
