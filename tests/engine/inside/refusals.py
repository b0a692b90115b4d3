"""What refuses to count, and how it says so: ``refusals.py SPEC``, a list of jobs.

A job has ``name``; ``model``; ``engine`` (keyword arguments of ``vllm.LLM``); ``result``. With
``rival``, another plugin has replaced the experts before. With ``environ``, its fork has more of an
environment. With ``loaded``, the engine comes up and
its model is then altered, one case after another.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import forks

Refused = dict[str, str | None]


def run(job: forks.Job) -> Refused:
    """By case, what was said; None where nothing was refused."""
    from vllm import LLM  # noqa: PLC0415 - imported by the parent already

    os.environ.update(job.get("environ", {}))
    if job.get("rival"):
        replace_experts()
    try:
        llm = LLM(model=job["model"], **job["engine"])
    except Exception as error:  # noqa: BLE001 - told to whoever asked
        return {job["name"]: str(error)}
    if job.get("loaded"):
        (found,) = llm.apply_model(altered)
        return dict(found)
    return {job["name"]: None}


def replace_experts() -> None:
    """Do as a plugin that has experts of its own."""
    from vllm.model_executor.custom_op import PluggableLayer  # noqa: PLC0415 - the same
    from vllm.model_executor.layers.fused_moe.routed_experts import (  # noqa: PLC0415
        RoutedExperts,
    )

    class RivalExperts(RoutedExperts):  # type: ignore[misc]  # mypy does not see vLLM
        """Another plugin's."""

    PluggableLayer.register_oot(RivalExperts, name="RoutedExperts")


def altered(model: Any) -> Refused:  # noqa: ANN401 - a torch module
    """Bind again under every cause to refuse; each is undone before the next."""
    import torch  # noqa: PLC0415 - the same
    from vllm.model_executor.layers.fused_moe.routed_experts import (  # noqa: PLC0415
        RoutedExperts,
    )

    *_, last = (each for each in model.modules() if isinstance(each, RoutedExperts))
    sole = torch.nn.ModuleDict({"only": last})
    method = type(last.quant_method)
    found = {
        "no_moe_layer": told(torch.nn.Linear(2, 2)),
        "eplb": told(model, enable_eplb=True),
        "data_parallel": told(model, data_parallel_size=2),
        "micro_batches": told(model, use_ubatching=True),
        "context_parallel": told(model, prefill_context_parallel_size=2),
        "drafts_taken_back": told(model, "ngram_gpu"),
        "drafts_cut": told(model, "eagle", adaptive=True),
        "parts_of_a_prompt": told(model, cache={"kv_sharing_fast_prefill": True}),
        "ends_of_a_prompt": told(model, v41=True, cache={"swa_bounded_replay": True}),
        "another_model": told(sole, cache={"swa_bounded_replay": True}),
        "all_of_a_prompt": told(sole, v41=True, cache={"swa_bounded_replay": False}),
        "drafts": told(sole, "ngram"),
        "nothing": told(sole),
    }
    with patch.object(method, "is_monolithic", new=True):
        found["monolithic"] = told(sole)
    with attribute(last, "top_k", last.top_k - 1):
        found["uneven"] = told(model)
    with attribute(last, "__class__", RoutedExperts):
        found["not_ours"] = told(model)
    return found


@contextmanager
def attribute(layer: Any, name: str, value: object) -> Iterator[None]:  # noqa: ANN401 - the same
    """Give a layer another attribute while the block runs."""
    before = getattr(layer, name)
    setattr(layer, name, value)
    try:
        yield
    finally:
        setattr(layer, name, before)


def told(
    model: Any,  # noqa: ANN401 - the same
    drafting: str = "",
    *,
    adaptive: bool = False,
    v41: bool = False,
    cache: Mapping[str, bool] | None = None,
    **parallel: object,
) -> str | None:
    """Bind a counter; what was said against it."""
    import torch  # noqa: PLC0415 - the same

    from expert_bank.glue.binding import bind_counter  # noqa: PLC0415 - imports vLLM

    plain = {
        "enable_expert_parallel": False,
        "enable_eplb": False,
        "data_parallel_size": 1,
        "use_ubatching": False,
        "prefill_context_parallel_size": 1,
    }
    config = SimpleNamespace(
        parallel_config=SimpleNamespace(**plain | parallel),
        lora_config=None,
        speculative_config=SimpleNamespace(method=drafting, enable_adaptive_verification=adaptive)
        if drafting
        else None,
        cache_config=SimpleNamespace(**cache or {}),
        model_config=SimpleNamespace(
            architectures=["DeepseekV41ForCausalLM" if v41 else "Qwen3MoeForCausalLM"]
        ),
    )
    try:
        counter = bind_counter(model, config, torch.device("cpu"))
    except RuntimeError as error:
        return str(error)
    return None if counter.serves else "its readings are not held against the tokens"


if __name__ == "__main__":
    forks.run_all(run, *sys.argv[1:])
