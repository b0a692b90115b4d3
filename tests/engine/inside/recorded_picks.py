"""Boot engines that record their picks, and ask them: ``recorded_picks.py SPEC``, a list of jobs.

A job has ``name``; ``model``; ``engine`` (keyword arguments of ``vllm.LLM``); ``scenarios``; ``ahead``;
``captured`` (whether vLLM's own capture function keeps the picks of each token, too); ``folder`` (for the
files); ``hidden``; ``result``.
"""

import os
import sys
from dataclasses import asdict
from typing import Any

import forks


def run(job: forks.Job) -> dict[str, Any]:
    """Boot a job's engine, run its scenarios, and tell what was asked, counted and recorded."""
    from bench import Bench  # noqa: PLC0415 - they import vLLM, which the parent did
    from scenarios import ALL  # noqa: PLC0415 - the same
    from speculative import repetitive  # noqa: PLC0415 - the same
    from vllm import LLM  # noqa: PLC0415 - the same

    os.environ["EXPERT_BANK_RECORD"] = job["folder"]
    os.environ["EXPERT_BANK_RECORD_SIZE"] = job.get("size", "1GiB")
    os.environ["EXPERT_BANK_RECORD_HIDDEN"] = "1" if job.get("hidden") else ""
    picks = Routed() if job["captured"] else None
    if job.get("ahead"):
        from run_ahead import force  # noqa: PLC0415 - the same

        force()
    llm = LLM(model=job["model"], moe_record_picks=True, **job["engine"])
    worker = llm.llm_engine.model_executor.driver_worker.worker
    if picks is not None:
        picks.counter = worker.pick_counter
    bench = Bench(llm, None)
    asked: list[Any] = []
    drafts = _drafts(llm)
    for name in job["scenarios"]:
        forks.tell(job["name"], name)
        scenario = repetitive if name == "repetitive" else ALL[name]
        asked += scenario(bench)
    (recorded,) = llm.collective_rpc("expert_bank_recorded")
    return {
        "asked": [asdict(each) for each in asked],
        "preempted": bench.steps.preempted,
        "usage": bench.usage(),
        "recorded": recorded,
        "drafts": asdict(drafts),
        "captured": None if picks is None else picks.write(f"{job['result']}.npy"),
        "embedding": _embedding(worker, f"{job['result']}.embedding.npy"),
    }


class Routed:
    """Every scheduled pick of every layer, in order, by vLLM's own capture function.

    Made before the model is.
    """

    def __init__(self) -> None:
        from vllm.model_executor.layers.fused_moe.router.base_router import (  # noqa: PLC0415 - the same
            BaseRouter,
        )

        self.layers: list[list[Any]] = []
        self.counter: Any = None
        made = BaseRouter.__init__

        def hooked(router: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - vLLM's
            made(router, *args, **kwargs)
            kept: list[Any] = []
            self.layers.append(kept)
            router.set_capture_fn(lambda ids: self._keep(kept, ids))

        BaseRouter.__init__ = hooked

    def _keep(self, kept: list[Any], ids: Any) -> None:  # noqa: ANN401 - torch's
        if self.counter is not None and (tokens := int(self.counter.scheduled)):
            kept.append(ids[:tokens].numpy().astype("uint16"))

    def write(self, file: str) -> str:
        """Write uint16[T, L, k]; its name."""
        import numpy as np  # noqa: PLC0415 - the same

        np.save(file, np.stack([np.concatenate(kept) for kept in self.layers], axis=1))
        return file


def _drafts(llm: Any) -> Any:  # noqa: ANN401 - vLLM's
    from speculative import Drafts  # noqa: PLC0415 - the same

    drafts = Drafts()
    drafts.watch(llm.llm_engine.engine_core.engine_core.scheduler)
    return drafts


def _embedding(worker: Any, file: str) -> str:  # noqa: ANN401 - vLLM's
    """Write what the first layer is given for each token id, float16[V, h]."""
    import numpy as np  # noqa: PLC0415 - the same

    table = worker.model_runner.get_model().model.embed_tokens.weight
    np.save(file, table.detach().half().numpy())
    return file


if __name__ == "__main__":
    forks.run_all(run, *sys.argv[1:])
