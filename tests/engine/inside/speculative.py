"""Boot counting engines that speculate and ask them: ``speculative.py SPEC``, a list of jobs.

A job has ``name``; ``model``; ``engine`` (keyword arguments of ``vllm.LLM``); ``result``.
"""

import random
import sys
from dataclasses import asdict, dataclass
from typing import Any

import forks

# So few that whatever follows has followed before.
TOKENS = (17, 388)
LENGTHS = (5, 16, 33, 60)


@dataclass
class Drafts:
    """What became of the tokens that were drafted.

    Attributes:
        scheduled: Drafted tokens that a step was to verify.
        taken: How many of them were found right.
        sampled: Tokens that all steps gave, those past an answer's end, too.
    """

    scheduled: int = 0
    taken: int = 0
    sampled: int = 0

    def watch(self, scheduler: Any) -> None:  # noqa: ANN401 - vLLM's
        """Add every step of a scheduler from here on."""
        update = scheduler.update_from_output

        def watched(step: Any, output: Any) -> Any:  # noqa: ANN401 - the same
            self.sampled += sum(map(len, output.sampled_token_ids))
            for request, drafts in step.scheduled_spec_decode_tokens.items():
                self.scheduled += len(drafts)
                self.taken += len(output.sampled_token_ids[output.req_id_to_index[request]]) - 1
            return update(step, output)

        scheduler.update_from_output = watched


def repetitive(bench: Any) -> list[Any]:  # noqa: ANN401 - it imports vLLM
    """Prompts that repeat: answered freely, then with the same few tokens alone."""
    source = random.Random("repetitive")  # noqa: S311 - no secret
    prompts = [source.choices(TOKENS, k=length) for length in LENGTHS]
    few = {"allowed_token_ids": list(TOKENS)}
    return [*bench.ask(prompts, max_tokens=40), *bench.ask(prompts, max_tokens=40, **few)]


def run(job: forks.Job) -> dict[str, Any]:
    """Boot a job's engine, ask, and tell what was drafted, scheduled and counted."""
    from bench import Bench, Routed  # noqa: PLC0415 - they import vLLM, which the parent did
    from vllm import LLM  # noqa: PLC0415 - the same

    routed = Routed()
    llm = LLM(model=job["model"], **job["engine"])
    bench, drafts = Bench(llm, routed), Drafts()
    drafts.watch(llm.llm_engine.engine_core.engine_core.scheduler)
    found = bench.during(repetitive)
    return {
        **found,
        "drafts": asdict(drafts),
        "status": llm.collective_rpc("expert_bank_status"),
        "usage": llm.collective_rpc("expert_bank_usage"),
        "draft_layers": llm.collective_rpc(draft_layers),
    }


def draft_layers(worker: Any) -> dict[str, bool]:  # noqa: ANN401 - vLLM's
    """Name the MoE layers of a worker's draft model, and whether a counter is bound to them."""
    from vllm.model_executor.layers.fused_moe.routed_experts import (  # noqa: PLC0415 - the same
        RoutedExperts,
    )

    model = worker.model_runner.get_draft_model()
    return {
        name: layer.pick_counts is not None or layer.scheduled_tokens is not None
        for name, layer in (model.named_modules() if model else ())
        if isinstance(layer, RoutedExperts)
    }


if __name__ == "__main__":
    forks.run_all(run, *sys.argv[1:])
