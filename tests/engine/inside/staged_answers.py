"""Engines whose cold rows are staged for prefill, and their counters: ``staged_answers.py SPEC``.

A job has ``name``; ``model``; ``engine`` (keyword arguments of ``vllm.LLM``); ``alone`` (lengths of
the prompts that are asked one by one, each told by itself); ``together`` (lengths of those asked at
once); ``shared`` (tokens that all of the latter begin with); ``replayed`` (lengths of prompts that are
asked behind them, each alone, then all at once, while every other prefill step is said to be replayed
from a graph; the CPU's engines capture none); ``tokens`` (of an answer); ``calls`` (methods of the
worker extension and their arguments, before the first prompt); ``result``.
"""

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import forks
import logprobs

ORDINARY = 500


def run(job: forks.Job) -> dict[str, Any]:
    """Boot a job's engine, and answer."""
    from vllm import LLM  # noqa: PLC0415 - imported by the parent already

    llm = LLM(model=job["model"], **job["engine"])
    steps = watched(llm)
    for method, *arguments in job["calls"]:
        llm.collective_rpc(method, args=tuple(arguments))
    asked = [ask(llm, steps, job, [length], 0) for length in job["alone"]]
    if job["together"]:
        asked.append(ask(llm, steps, job, job["together"], job["shared"]))
    return {
        "asked": asked,
        "replayed": replayed(llm, steps, job) if job["replayed"] else [],
        "compiled": llm.llm_engine.vllm_config.compilation_config.mode.name != "NONE",
        "banks": banks(llm),
        "metrics": metrics(),
    }


def metrics() -> list[str]:
    """Lines of our metrics, as ``/metrics`` of this process has them; none without a stats file."""
    from prometheus_client import REGISTRY, generate_latest  # noqa: PLC0415 - vLLM's

    lines = generate_latest(REGISTRY).decode().splitlines()
    return [each for each in lines if each.startswith("expert_bank_")]


def watched(llm: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - vLLM's
    """Note of each step how many tokens it has, and whether one of a prompt is among them."""
    core = llm.llm_engine.engine_core.engine_core
    schedule, steps, prompts = core.scheduler.schedule, [], {}

    def scheduled(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the same
        step = schedule(*args, **kwargs)
        prompts.update({e.req_id: len(e.prompt_token_ids) for e in step.scheduled_new_reqs})
        requests = core.scheduler.requests
        if step.total_num_scheduled_tokens:
            # The scheduler has counted them as computed by now.
            before = {
                name: requests[name].num_computed_tokens - count
                for name, count in step.num_scheduled_tokens.items()
            }
            steps.append(
                {
                    "tokens": step.total_num_scheduled_tokens,
                    "prefill": any(done < prompts[name] for name, done in before.items()),
                    "decode": any(done >= prompts[name] for name, done in before.items()),
                }
            )
        return step

    core.scheduler.schedule = scheduled
    return steps


def replayed(
    llm: Any,  # noqa: ANN401 - vLLM's
    steps: list[dict[str, Any]],
    job: forks.Job,
) -> list[dict[str, Any]]:
    """Ask while every other prefill step is said to be replayed; each as ``ask`` has it."""
    lengths = job["replayed"]
    with every_other_replayed(steps):
        alone = [ask(llm, steps, job, [length], 0) for length in lengths]
        return [*alone, ask(llm, steps, job, lengths, job["shared"])]


@contextmanager
def every_other_replayed(steps: list[dict[str, Any]]) -> Iterator[None]:
    """Say of every other prefill step that it is replayed, from the first on, and note which."""
    from expert_bank.glue import worker  # noqa: PLC0415 - not before the lane's path

    asked: list[int] = []

    def captured(_vllm_config: object, tokens: int) -> bool:
        # The one that was scheduled last: it runs now.
        assert tokens == steps[-1]["tokens"]
        asked.append(tokens)
        steps[-1]["captured"] = len(asked) % 2 == 1
        return bool(steps[-1]["captured"])

    with patch.object(worker, "captured", captured):
        yield


def ask(
    llm: Any,  # noqa: ANN401 - the same
    steps: list[dict[str, Any]],
    job: forks.Job,
    lengths: list[int],
    shared: int,
) -> dict[str, Any]:
    """Ask prompts at once; what was answered, and what was staged and counted meanwhile."""
    from vllm import SamplingParams  # noqa: PLC0415 - the same

    before, first = banks(llm), len(steps)
    wanted = SamplingParams(temperature=0, max_tokens=job["tokens"], ignore_eos=True, logprobs=1)
    prompts = [{"prompt_token_ids": drawn(number, n, shared)} for number, n in enumerate(lengths)]
    outputs = llm.generate(prompts, wanted, use_tqdm=False)
    return {
        "lengths": lengths,
        "cached": sum(each.num_cached_tokens or 0 for each in outputs),
        "ids": [list(each.outputs[0].token_ids) for each in outputs],
        "bits": [logprobs.bits(each.outputs[0]) for each in outputs],
        "steps": steps[first:],
        "before": before,
        "after": banks(llm),
    }


def banks(llm: Any) -> Any:  # noqa: ANN401 - the same
    """Ask the one worker; None where it has no banks."""
    found = llm.collective_rpc("expert_bank_banks")
    return found[0] if found else None


def drawn(number: int, length: int, shared: int) -> list[int]:
    """Draw a prompt, which begins as the others do."""
    common = random.Random("staged")  # noqa: S311 - no secret
    own = random.Random(f"staged {number} {length}")  # noqa: S311 - the same
    head = common.choices(range(ORDINARY), k=min(shared, length))
    return [*head, *own.choices(range(ORDINARY), k=length - len(head))]


if __name__ == "__main__":
    forks.run_all(run, *sys.argv[1:])
