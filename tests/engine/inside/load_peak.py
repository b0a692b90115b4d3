"""What is alive while a model is loaded, and what is told: ``load_peak.py SPEC``, a list of jobs.

A job has ``name``; ``model``; ``engine`` (keyword arguments of ``vllm.LLM``); ``result``; and
``least``, the bytes that an allocation needs to be recorded. With ``keeps``, the raw parameters of as
many layers are kept once they are in their banks; with ``plant``, another fault of ``load_plants`` is
there. With ``free``, that many bytes are measured as the host's. Every engine ends once its worker has
the model loaded, and before it profiles.
"""

import logging
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import forks

Found = dict[str, Any]


class Loaded(Exception):  # noqa: N818 - no error
    """All that was to be seen was seen."""


def run(job: forks.Job) -> Found:
    """Load a model; what was seen."""
    from allocations import Allocations  # noqa: PLC0415 - imports vLLM
    from load_plants import PLANTS, keeping  # noqa: PLC0415 - the same, where there are banks
    from vllm import LLM  # noqa: PLC0415 - imported by the parent already
    from vllm.model_executor.layers.fused_moe.routed_experts import (  # noqa: PLC0415
        RoutedExperts,
    )
    from vllm.model_executor.model_loader.base_loader import BaseModelLoader  # noqa: PLC0415
    from vllm.v1.engine.core import EngineCore  # noqa: PLC0415

    allocations = Allocations(job["least"])
    events: list[str] = []
    load, take = BaseModelLoader.load_model, RoutedExperts.weight_loader

    def watched(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - vLLM's
        lines_into(events)
        with allocations.watched():
            return load(*args, **kwargs)

    def taken(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - vLLM's
        events.append("weight")
        return take(*args, **kwargs)

    def end(*_: object) -> None:
        raise Loaded

    with ExitStack() as stack:
        stack.enter_context(patch.object(BaseModelLoader, "load_model", watched))
        stack.enter_context(patch.object(RoutedExperts, "weight_loader", taken))
        stack.enter_context(patch.object(EngineCore, "_initialize_kv_caches", end))
        banks = stack.enter_context(mapped())
        if job.get("keeps"):
            stack.enter_context(keeping(job["keeps"]))
        if job.get("plant"):
            stack.enter_context(PLANTS[job["plant"]]())
        if "free" in job:
            stack.enter_context(measuring(job["free"]))
        refused = None
        try:
            LLM(model=job["model"], **job["engine"])
        except Loaded:
            pass
        except Exception as error:  # noqa: BLE001 - told to whoever asked
            refused = str(error)
    return {
        "refused": refused,
        "events": events,
        "peak": allocations.peak,
        "made_of": allocations.made_of,
        "alive": allocations.alive,
        "most": allocations.most,
        "banks": banks,
    }


def lines_into(events: list[str]) -> None:
    """Have what this package logs stand among the events, from here on.

    vLLM takes the handlers off all loggers below its own when an engine is made.
    """
    handler = logging.Handler()
    handler.emit = lambda record: events.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("vllm.expert_bank").addHandler(handler)


@contextmanager
def mapped() -> Iterator[list[int]]:
    """List the bytes of memory of every bank that is mapped while the block runs."""
    sizes: list[int] = []
    try:
        from expert_bank.host_memory import HostMemory  # noqa: PLC0415 - not in an unpatched tree
    except ImportError:
        yield sizes
        return
    real = HostMemory.take

    def take_and_note(memory: HostMemory, pages: Any) -> Any:  # noqa: ANN401 - HostPages
        sizes.append(pages.held)
        return real(memory, pages)

    with patch.object(HostMemory, "take", take_and_note):
        yield sizes


@contextmanager
def measuring(free: int) -> Iterator[None]:
    """Have the host's free memory measured as so many bytes."""
    from expert_bank.glue import loading  # noqa: PLC0415 - imports vLLM
    from expert_bank.host_budget import HostBudget  # noqa: PLC0415 - the same

    def budget(*, node: int | None = None) -> HostBudget:  # noqa: ARG001
        return HostBudget((("a test", (("free", free),)),))

    with patch.object(loading, "host_budget", budget):
        yield


if __name__ == "__main__":
    forks.run_all(run, *sys.argv[1:])
