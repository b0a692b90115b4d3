"""Engines with two banks, or without, that somebody drafts for: ``bank_drafts.py SPEC``.

A job has ``name``; ``model``; ``engine`` (keyword arguments of ``vllm.LLM``); ``call`` (a method of
the worker extension and its arguments, or None); ``result``.
"""

import random
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import forks
import logprobs
import speculative


def run(job: forks.Job) -> dict[str, Any]:
    """Boot a job's engine, watch its draft's layers, answer, and tell what ran."""
    from vllm import LLM, SamplingParams  # noqa: PLC0415 - imported by the parent already

    llm = LLM(model=job["model"], **job["engine"])
    drafts, ran = speculative.Drafts(), dict[str, int]()
    drafts.watch(llm.llm_engine.engine_core.engine_core.scheduler)
    (layers,) = llm.collective_rpc(partial(watched, ran=ran))
    if job["call"]:
        method, *arguments = job["call"]
        llm.collective_rpc(method, args=tuple(arguments))
    source = random.Random("drafts")  # noqa: S311 - no secret
    answers, asked = [], []
    # Freely, then with the same few tokens alone, which a draft guesses.
    for more in ({}, {"allowed_token_ids": list(speculative.TOKENS)}):
        parameters = SamplingParams(
            temperature=0, max_tokens=24, ignore_eos=True, logprobs=1, **more
        )
        for length in speculative.LENGTHS:
            prompt = {"prompt_token_ids": source.choices(speculative.TOKENS, k=length)}
            (output,) = llm.generate(prompt, parameters, use_tqdm=False)
            answers.append(output.outputs[0])
            asked.append(
                {
                    "prompt": length,
                    "outputs": [len(answers[-1].token_ids)],
                    "cached": output.num_cached_tokens or 0,
                }
            )
    return {
        "asked": asked,
        "ids": [list(each.token_ids) for each in answers],
        "bits": [logprobs.bits(each) for each in answers],
        "drafts": asdict(drafts),
        "layers": layers,
        "ran": ran,
        "banks": llm.collective_rpc("expert_bank_banks")[0],
    }


def watched(worker: Any, ran: dict[str, int]) -> dict[str, list[int] | None]:  # noqa: ANN401 - vLLM's
    """Count the forwards of a draft model's MoE layers from here on; whose table each has, if any."""
    from vllm.model_executor.layers.fused_moe.routed_experts import (  # noqa: PLC0415 - the same
        RoutedExperts,
    )

    model = worker.model_runner.get_draft_model()
    layers = [each for each in model.modules() if isinstance(each, RoutedExperts)] if model else []
    for layer in layers:
        ran[layer.layer_name] = 0
        layer.forward_modular = partial(counted, layer.forward_modular, ran, layer.layer_name)
    return {
        each.layer_name: None if getattr(each, "table", None) is None else list(each.table.shape)
        for each in layers
    }


def counted(
    inner: Callable[..., Any],
    ran: dict[str, int],
    name: str,
    *args: object,
    **kwargs: object,
) -> Any:  # noqa: ANN401 - vLLM's
    """Count a forward of a layer, and run it."""
    ran[name] += 1
    return inner(*args, **kwargs)


if __name__ == "__main__":
    forks.run_all(run, *sys.argv[1:])
