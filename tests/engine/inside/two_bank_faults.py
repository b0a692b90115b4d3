"""Engines with two banks and a planted fault: ``two_bank_faults.py SPEC``, a list of jobs.

A job has ``name``; ``model``; ``engine`` (keyword arguments of ``vllm.LLM``); ``fault`` (a name in
``FAULTS``, or None); ``force`` (arguments of ``expert_bank_force``); ``prompts``; ``max_tokens``;
``result``.
"""

import sys
from collections.abc import Callable
from typing import Any

import forks
import logprobs
import torch


def run(job: forks.Job) -> dict[str, Any]:
    """Boot a job's engine, plant its fault, answer, and tell what the worker's audit says."""
    from vllm import LLM, SamplingParams  # noqa: PLC0415 - imported by the parent already

    llm = LLM(model=job["model"], **job["engine"])
    worker = llm.llm_engine.model_executor.driver_worker.worker
    if job["fault"]:
        FAULTS[job["fault"]](worker)
    llm.collective_rpc("expert_bank_force", args=tuple(job["force"]))
    parameters = SamplingParams(
        temperature=0, max_tokens=job["max_tokens"], ignore_eos=True, logprobs=1
    )
    answers = [
        llm.generate([prompt], parameters, use_tqdm=False)[0].outputs[0]
        for prompt in job["prompts"]
    ]
    (banks,) = llm.collective_rpc("expert_bank_banks")
    return {
        "ids": [list(each.token_ids) for each in answers],
        "bits": [logprobs.bits(each) for each in answers],
        "banks": banks,
    }


def partial_sums(_worker: Any) -> None:  # noqa: ANN401 - vLLM's
    """Run hot and cold picks apart and add the two sums; each pick is counted once."""
    from vllm.model_executor.layers.fused_moe.routed_experts import (  # noqa: PLC0415 - not before shims
        RoutedExperts,
    )

    from expert_bank.glue.banked import BankedExperts  # noqa: PLC0415 - imports vLLM
    from expert_bank.table_layout import BANK, COLD  # noqa: PLC0415 - not before the lane's path

    served = BankedExperts.forward_modular

    def summed(
        layer: Any,  # noqa: ANN401 - vLLM's
        x: torch.Tensor,
        topk_weights: torch.Tensor,
        topk_ids: torch.Tensor,
        *args: Any,  # noqa: ANN401 - the same
        **kwargs: Any,  # noqa: ANN401 - the same
    ) -> torch.Tensor:
        if layer.table is None:
            return served(layer, x, topk_weights, topk_ids, *args, **kwargs)
        cold = layer.table[BANK][topk_ids.long()] == COLD
        places = layer.late_split(topk_ids)
        hot_sum, cold_sum = (
            RoutedExperts.forward_modular(
                layer, x, topk_weights.masked_fill(without, 0.0), places, *args, **kwargs
            ).clone()
            for without in (cold, ~cold)
        )
        return hot_sum + cold_sum

    setattr(BankedExperts, "forward_modular", summed)  # noqa: B010 - a plant, not a method


def exchanged_rows(worker: Any) -> None:  # noqa: ANN401 - the same
    """Exchange the rows of the first and the last expert of the middle layer."""
    swapper = worker.two_bank.swapper
    layer = len(swapper.banks) // 2
    bank = swapper.banks[layer]
    ends = [bank.row(*swapper.table.where(layer, expert)) for expert in (0, bank.experts - 1)]
    for one, other in zip(*ends, strict=True):
        kept = one.clone()
        one.copy_(other)
        other.copy_(kept)


def scales_left_behind(worker: Any) -> None:  # noqa: ANN401 - the same
    """Move weights and not their scales, and look at neither."""
    swapper = worker.two_bank.swapper
    names = [tensor.name for tensor in swapper.banks[0].tensors]

    def copy(to: Any, source: Any) -> None:  # noqa: ANN401 - rows
        for name, ours, theirs in zip(names, to, source, strict=True):
            if not name.endswith("scale"):
                ours.copy_(theirs)

    swapper.copy = copy
    unlooked(swapper)


def flip_before_copy(worker: Any) -> None:  # noqa: ANN401 - the same
    """Point experts to their hot rows at once, and copy their bytes at the next barrier."""
    swapper, barrier = worker.two_bank.swapper, worker.two_bank.barrier
    late: list[tuple[Any, Any]] = []
    swap = barrier.swap

    def copy(to: Any, source: Any) -> None:  # noqa: ANN401 - rows
        late.append((to, [each.clone() for each in source]))

    def swapped(asked: Any) -> None:  # noqa: ANN401 - swaps
        while late:
            for ours, theirs in zip(*late.pop(0), strict=True):
                ours.copy_(theirs)
        swap(asked)

    swapper.copy, barrier.swap = copy, swapped
    unlooked(swapper)


def wrong_bank(worker: Any) -> None:  # noqa: ANN401 - the same
    """Have the device read a hot expert of each layer from the row that its entry left."""
    table, swapper = worker.two_bank.table, worker.two_bank.swapper
    swap = swapper.swap

    def lagging(asked: Any) -> Any:  # noqa: ANN401 - Swap, Swapped
        before = table.device[asked.layer].clone()
        swapped = swap(asked)
        table.device[asked.layer].copy_(before)
        return swapped

    swapper.swap = lagging


def unlooked(swapper: Any) -> None:  # noqa: ANN401 - Swapper
    """Look at no row while rows move; the audit, which is not the swapper's, still does."""
    looked = swapper.loaded.wrong

    def wrong(*where: int) -> str:
        asked_by = sys._getframe(1).f_globals["__name__"]  # noqa: SLF001 - who asks is the point
        return "" if asked_by == "expert_bank.swapping" else str(looked(*where))

    swapper.loaded.wrong = wrong


FAULTS: dict[str, Callable[[Any], None]] = {
    each.__name__: each
    for each in (partial_sums, exchanged_rows, scales_left_behind, flip_before_copy, wrong_bank)
}


if __name__ == "__main__":
    forks.run_all(run, *sys.argv[1:])
