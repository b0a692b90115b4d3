"""What memory an engine's workers have taken, by vLLM's own measure, and what two banks were planned as."""

from typing import Any

# Of `expert_bank.plan.Plan`, in bytes; the last one in tokens of the KV cache.
PLANNED = (
    "hot_bank",
    "cold_bank",
    "tables",
    "counts",
    "staging",
    "other",
    "device",
    "all_resident",
    "bought",
    "kv_tokens_bought",
)


def of_worker(worker: Any) -> dict[str, Any]:  # noqa: ANN401 - vLLM's
    """Tell of a worker, as values that JSON can carry; None for what it does not tell.

    Returns:
        ``weights``: bytes of the device that loading the model took. ``kv_cache``: bytes that are left
        for the KV cache. ``kv_blocks``: of how many blocks that is. ``plan``: of the two banks, by
        ``PLANNED``. ``host_bank``: bytes of their mappings in host memory, and how many of these are in
        memory, by the kernel's count. None where there are no banks.
    """
    runner = getattr(worker, "model_runner", None)
    two_bank = getattr(worker, "two_bank", None)
    cache = getattr(getattr(worker, "vllm_config", None), "cache_config", None)
    return {
        "weights": _whole(getattr(runner, "model_memory_usage", None)),
        "kv_cache": _whole(getattr(worker, "available_kv_cache_memory_bytes", None)),
        "kv_blocks": _whole(getattr(cache, "num_gpu_blocks", None)),
        "plan": _planned(getattr(two_bank, "plan", None)),
        "host_bank": _host_bank(two_bank),
    }


def _planned(plan: Any) -> dict[str, int | None] | None:  # noqa: ANN401 - the overlay's
    return None if plan is None else {name: _whole(getattr(plan, name, None)) for name in PLANNED}


def _host_bank(two_bank: Any) -> dict[str, int] | None:  # noqa: ANN401 - the same
    """Add up the mappings of the banks' rows."""
    found = [
        each
        for kept in getattr(two_bank, "kept", ())
        for each in getattr(kept, "mappings", ())
        if each.held
    ]
    if not found:
        return None
    # In the lane's tree, where there are banks.
    from expert_bank.smaps import measured, read_smaps  # noqa: PLC0415

    ranges = [(each.address, each.held) for each in found]
    return {
        "mapped": sum(size for _, size in ranges),
        "resident": measured(ranges, read_smaps()).resident,
    }


def _whole(value: Any) -> int | None:  # noqa: ANN401 - whatever a worker has
    return None if value is None else int(value)
