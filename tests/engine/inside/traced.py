"""An engine with two banks whose routers' picks are looked up in the table that each forward has."""

from typing import Any
from unittest.mock import patch

import torch
from bench import Routed
from vllm import LLM

from expert_bank.glue.worker import BankWorker


class Traced(Routed):
    """The picks of every router by the bank that serves them: an oracle beside the counter."""

    two_bank: Any = None

    def _hook(self, router: Any) -> None:  # noqa: ANN401 - vLLM's
        layer = len(self.tables)
        table = torch.zeros(2, dtype=torch.int64)
        self.tables.append(table)

        def capture(ids: torch.Tensor) -> None:
            banks = self.two_bank.table.device[layer][0][ids.reshape(-1).long()].long()
            table.scatter_add_(0, banks, torch.ones_like(banks))

        router.set_capture_fn(capture)


def boot(model: str, engine: dict[str, Any]) -> tuple[LLM, Traced]:
    """Boot an engine that swaps rows all along, with nothing in its trace yet."""
    traced = Traced()
    load_model = BankWorker.load_model

    def loaded(worker: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - vLLM's
        load_model(worker, *args, **kwargs)
        # Before anything is compiled, so that compiled code looks its picks up, too.
        traced.two_bank = worker.two_bank

    with patch.object(BankWorker, "load_model", loaded):
        llm = LLM(model=model, **engine)
    for warm in traced.tables:
        warm.zero_()
    llm.collective_rpc("expert_bank_force", args=(3, 3, 11))
    return llm, traced


def by_bank(traced: Traced) -> dict[str, Any]:
    """What was counted of each layer's picks by bank, and what the trace comes to."""
    return {
        "counted": traced.two_bank.counter.by_bank().sum(axis=2).tolist(),
        "traced": traced.read().tolist(),
    }
