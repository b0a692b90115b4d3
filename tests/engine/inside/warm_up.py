"""Our worker over one that warms up by whole steps of its own: ``warm_up.py SPEC``, a list of jobs.

Model Runner V2 warms its kernels so, on CUDA alone; the base here does the same with the real op.
"""

import sys
from types import SimpleNamespace
from typing import Any

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
    worker.execute_model(SimpleNamespace(total_num_scheduled_tokens=3))
    found["step"] = counted(counter)
    try:
        worker.compile_or_warm_up_model(fails=True)
    except RuntimeError:
        worker.execute_model(SimpleNamespace(total_num_scheduled_tokens=2))
    return found | {"after": counted(counter)}


def counted(counter: Any) -> list[int]:  # noqa: ANN401 - PickCounter
    """Tokens and picks so far."""
    return [counter.tokens, int(counter.snapshot().sum())]


if __name__ == "__main__":
    forks.run_all(run, *sys.argv[1:])
