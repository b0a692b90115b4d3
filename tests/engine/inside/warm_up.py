"""Our worker over one that warms up by whole steps of its own: ``warm_up.py SPEC``, a list of jobs.

Model Runner V2 warms its kernels so, on CUDA alone; the base here does the same with the real op.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import forks
import torch

K, EXPERTS = 4, 16


def run(_job: forks.Job) -> dict[str, Any]:
    """Warm up, run a step, fail a warm-up and run another; what was counted behind each."""
    from expert_bank import ops  # noqa: PLC0415 - vLLM is imported by the parent
    from expert_bank.counter import PickCounter  # noqa: PLC0415 - the same
    from expert_bank.glue.worker import BankWorker  # noqa: PLC0415 - the same

    ops.register()
    counter = PickCounter(["only"], experts=EXPERTS, picks_per_token=K, device=torch.device("cpu"))

    class Base:
        def execute_model(self, scheduler_output: Any) -> None:  # noqa: ANN401 - vLLM's
            ids = torch.arange(scheduler_output.total_num_scheduled_tokens * K).reshape(-1, K)
            op = torch.ops.expert_bank.count_picks
            op(counter.counts[0], ids % EXPERTS, counter.scheduled)

        def compile_or_warm_up_model(self, *, fails: bool = False) -> str:
            self.execute_model(SimpleNamespace(total_num_scheduled_tokens=5))
            if fails:
                raise RuntimeError("warm-up")
            return "seconds"

    class Worker(BankWorker, Base):
        pass

    worker = Worker()
    worker.pick_counter = counter
    found = {"answer": worker.compile_or_warm_up_model(), "warm": counted(counter)}
    found["staging"] = beside_staging(worker)
    worker.execute_model(SimpleNamespace(total_num_scheduled_tokens=3))
    found["step"] = counted(counter)
    try:
        worker.compile_or_warm_up_model(fails=True)
    except RuntimeError:
        worker.execute_model(SimpleNamespace(total_num_scheduled_tokens=2))
    return found | {"after": counted(counter)}


def beside_staging(worker: Any) -> list[str]:  # noqa: ANN401 - BankWorker
    """Warm up where steps are staged; what the banks were asked, in order."""
    asked: list[str] = []

    @contextmanager
    def noted(what: str) -> Iterator[None]:
        asked.append(what)
        yield
        asked.append(f"{what} ended")

    worker.two_bank = SimpleNamespace(
        barrier=SimpleNamespace(shut=lambda _why: noted("shut")),
        staging=SimpleNamespace(warming=lambda: noted("warming")),
    )
    worker.model_runner = SimpleNamespace(get_model=lambda: None)
    worker.vllm_config = None
    with patch(
        "expert_bank.glue.worker.require_map_invariance", lambda *_: asked.append("checked")
    ):
        worker.compile_or_warm_up_model()
    worker.two_bank = None
    return asked


def counted(counter: Any) -> list[int]:  # noqa: ANN401 - PickCounter
    """Tokens and picks so far."""
    return [counter.tokens, int(counter.snapshot().sum())]


if __name__ == "__main__":
    forks.run_all(run, *sys.argv[1:])
