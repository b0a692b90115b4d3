"""What is planned of a model and what vLLM then has of it: ``planning.py SPEC``, a list of jobs.

A job has ``name``; ``model``; ``engine`` (keyword arguments of ``vllm.LLM``); ``result``.
"""

import sys
from typing import Any
from unittest.mock import patch

import forks

Found = dict[str, Any]
# What a CUDA device is taken to have left once the model is built.
CUDA_FREE = 2**34


def run(job: forks.Job) -> Found:
    """Load a model; the plan's terms, and the same by vLLM's own modules and cache."""
    import torch  # noqa: PLC0415 - imported by the parent already
    from vllm import LLM  # noqa: PLC0415 - imported by the parent already
    from vllm.model_executor.model_loader.default_loader import (  # noqa: PLC0415 - the same
        DefaultModelLoader,
    )

    from expert_bank.fits import plan_lines  # noqa: PLC0415 - of the lane's tree
    from expert_bank.glue import layout  # noqa: PLC0415 - imports vLLM
    from expert_bank.glue.planning import planned  # noqa: PLC0415 - the same
    from expert_bank.glue.worker import BankWorker  # noqa: PLC0415 - the same

    found: Found = {}
    load, warm_up = DefaultModelLoader.load_weights, BankWorker.compile_or_warm_up_model

    def told(plan: Any) -> list[str]:  # noqa: ANN401 - a Plan
        lines = plan_lines(plan)
        of_token = plan.kv_per_token.as_integer_ratio()
        found.update(lines=lines, other=plan.other, token=of_token, packed=plan.kv_packed)
        found.update(bought=plan.bought, rows=[each.row for each in plan.layers])
        return lines

    def twice(layers: Any, hot: Any, mode: Any, device: Any, **rest: Any) -> Any:  # noqa: ANN401
        with patch.object(torch.cuda, "mem_get_info", lambda _device: (CUDA_FREE, 2 * CUDA_FREE)):
            there = planned(layers, hot, mode, torch.device("cuda"), **rest)
        found.update(cuda_spare=there.free_device - there.other, cuda_free=CUDA_FREE)
        return planned(layers, hot, mode, device, **rest)

    def loaded(loader: Any, model: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - vLLM's
        given = load(loader, model, *args, **kwargs)
        # Before it is processed: on a CPU vLLM then packs some weights, and drops them.
        found["weights"] = weights_of(model)
        return given

    def warmed(worker: Any) -> Any:  # noqa: ANN401 - the same
        found.update(cache_of(worker))
        found["banked"] = [each.row_bytes for each in worker.two_bank.swapper.banks]
        return warm_up(worker)

    with (
        patch.object(layout, "plan_lines", told),
        patch.object(layout, "planned", twice),
        patch.object(DefaultModelLoader, "load_weights", loaded),
        patch.object(BankWorker, "compile_or_warm_up_model", warmed),
    ):
        LLM(model=job["model"], **job["engine"])
    return found


def weights_of(model: Any) -> int:  # noqa: ANN401 - a torch module
    """Bytes of all parameters of a model that are no routed experts' rows."""
    from vllm.model_executor.layers.fused_moe.routed_experts import (  # noqa: PLC0415 - the same
        RoutedExperts,
    )

    experts = [each for each in model.modules() if isinstance(each, RoutedExperts)]
    # A router's bias is a parameter of the experts, too, and on the device at once.
    left_out = {
        id(each)
        for layer in experts
        for name, each in layer.named_parameters()
        if name.startswith(("w13_", "w2_"))
    }
    return sum(each.nbytes for each in model.parameters() if id(each) not in left_out)


def cache_of(worker: Any) -> Found:  # noqa: ANN401 - vLLM's
    """Bytes of the KV cache that vLLM allocated, and its own account of them in tokens."""
    from vllm.v1.core.kv_cache_utils import (  # noqa: PLC0415 - the same
        get_max_concurrency_for_kv_cache_config,
    )

    config = worker.vllm_config
    requests = get_max_concurrency_for_kv_cache_config(config, worker.model_runner.kv_cache_config)
    storages = {}
    for layer in config.compilation_config.static_forward_context.values():
        cache = getattr(layer, "kv_cache", None)
        for each in cache if isinstance(cache, list | tuple) else [cache]:
            if each is not None and each.numel():
                storage = each.untyped_storage()
                storages[storage.data_ptr()] = storage.nbytes()
    return {
        "cache": sum(storages.values()),
        "requests": requests,
        "length": config.model_config.max_model_len,
    }


if __name__ == "__main__":
    forks.run_all(run, *sys.argv[1:])
