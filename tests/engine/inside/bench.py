"""An engine that is watched: what its scheduler did, what its routers picked, what was counted."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from vllm import LLM, RequestOutput, SamplingParams
from vllm.model_executor.layers.fused_moe.router.base_router import BaseRouter

EXPERTS = 16


@dataclass
class Steps:
    """What the scheduler of an engine did.

    Attributes:
        widest: Most sequences in one step.
        split: Prompts whose first step held a part of them only.
        preempted: Preemptions.
        tokens: All tokens of all steps.
    """

    widest: int = 0
    split: int = 0
    preempted: int = 0
    tokens: int = 0

    def take(self, step: Any) -> None:  # noqa: ANN401 - vLLM's SchedulerOutput
        """Add a step."""
        scheduled = step.num_scheduled_tokens
        self.widest = max(self.widest, len(scheduled))
        self.split += sum(
            new.num_computed_tokens + scheduled[new.req_id] < len(new.prompt_token_ids)
            for new in step.scheduled_new_reqs
        )
        self.preempted += len(step.preempted_req_ids or ())
        self.tokens += step.total_num_scheduled_tokens


@dataclass(frozen=True)
class Asked:
    """What the output of one request says.

    Attributes:
        prompt: Tokens of the prompt.
        cached: How many of them the prefix cache had.
        outputs: Tokens of each answer.
        ended: Why each answer ended; None where it was not to end.
        ids: Token ids of each answer.
    """

    prompt: int
    cached: int
    outputs: list[int]
    ended: list[str | None]
    ids: list[list[int]] = field(repr=False)

    @classmethod
    def read(cls, output: RequestOutput) -> "Asked":
        """Read vLLM's own."""
        return cls(
            prompt=len(output.prompt_token_ids),
            cached=output.num_cached_tokens or 0,
            outputs=[len(each.token_ids) for each in output.outputs],
            ended=[each.finish_reason for each in output.outputs],
            ids=[list(each.token_ids) for each in output.outputs],
        )


class Routed:
    """The picks of every router, by vLLM's own capture function: an oracle beside the counter.

    Made before the model is, so that a compiled model holds the capture, too.
    """

    def __init__(self) -> None:
        self.tables: list[torch.Tensor] = []
        made = BaseRouter.__init__

        def hooked(router: BaseRouter, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - vLLM's
            made(router, *args, **kwargs)
            self._hook(router)

        BaseRouter.__init__ = hooked

    def _hook(self, router: BaseRouter) -> None:
        table = torch.zeros(EXPERTS, dtype=torch.int64)
        self.tables.append(table)

        def capture(ids: torch.Tensor) -> None:
            picks = ids.reshape(-1).long()
            table.scatter_add_(0, picks, torch.ones_like(picks))

        router.set_capture_fn(capture)

    def read(self) -> torch.Tensor:
        """Give all picks so far, int64[L, E]."""
        return torch.stack(self.tables).clone()


class Bench:
    """One engine in this process."""

    def __init__(self, llm: LLM, routed: Routed | None) -> None:
        self.llm = llm
        self.routed = routed
        self.steps = Steps()
        core = llm.llm_engine.engine_core.engine_core
        schedule = core.scheduler.schedule

        def watched(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - vLLM's
            step = schedule(*args, **kwargs)
            self.steps.take(step)
            return step

        core.scheduler.schedule = watched

    def usage(self) -> dict[str, Any]:
        """Ask the one worker."""
        (usage,) = self.llm.collective_rpc("expert_bank_usage")
        return dict(usage)

    def ask(self, prompts: Sequence[list[int]], **parameters: Any) -> list[Asked]:  # noqa: ANN401 - vLLM's
        """Ask all prompts at once, greedily unless told otherwise."""
        wanted = SamplingParams(**{"temperature": 0, "ignore_eos": True, **parameters})
        given = [{"prompt_token_ids": prompt} for prompt in prompts]
        return [Asked.read(each) for each in self.llm.generate(given, wanted, use_tqdm=False)]

    def during(self, scenario: Any) -> dict[str, Any]:  # noqa: ANN401 - a function of this bench
        """Run a scenario; what happened and was counted while it ran, as JSON can carry it."""
        self.steps = Steps()
        routed, before = self._routed(), self.usage()
        asked = scenario(self)
        after = self.usage()
        counts = torch.tensor(after["counts"]) - torch.tensor(before["counts"])
        return {
            "asked": [asdict(each) for each in asked],
            "steps": asdict(self.steps),
            "tokens": after["tokens"] - before["tokens"],
            "counts": counts.tolist(),
            "routed": None if routed is None else (self._routed() - routed).tolist(),
        }

    def _routed(self) -> Any:  # noqa: ANN401 - int64[L, E], or None
        return self.routed.read() if self.routed else None
