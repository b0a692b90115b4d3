"""Checks of sleeps that a worker with two banks refuses; run by ``sleeping_worker``."""

from types import SimpleNamespace
from typing import Any

from sleeping_bed import bed
from sleeping_worker_faults import AGAIN
from small_banks import raised
from vllm.v1.worker import gpu_worker

from expert_bank.glue.against import against_loading
from expert_bank.refused import Refused


def what_cannot_sleep_is_refused_with_nothing_lost() -> None:
    """Exclusive banks at level 2, an engine without sleep mode, a CPU."""
    cases: tuple[tuple[dict[str, Any], int, str], ...] = (
        (
            {"mode": "exclusive"},
            2,
            "level 2 discards the hot rows, and with moe_cold_rows exclusive",
        ),
        ({"sleep_mode": False}, 1, "the engine was started without enable_sleep_mode"),
        (
            {"device": "cpu"},
            1,
            "the engine cannot sleep while experts are in two banks (moe_hot_experts)",
        ),
    )
    for given, level, said in cases:
        with bed(**given) as of:
            before = of.seen()
            told = raised(Refused, lambda: of.worker.sleep(level))  # noqa: B023 - called at once
            assert told.startswith(f"sleep: {said}"), told
            assert AGAIN in told
            assert of.asleep() == set()
            of.require_as_before(before)


def sleep_mode_is_taken_on_cuda_by_cumem_alone() -> None:
    """Elsewhere, or by another mechanism, the start is refused by name."""
    cases: tuple[tuple[dict[str, Any], list[str]], ...] = (
        ({}, []),
        ({"on": False, "device": "cpu", "backend": "criu"}, []),
        ({"device": "cpu"}, ["(enable_sleep_mode), and the banks cannot sleep on cpu"]),
        (
            {"backend": "criu"},
            ["(enable_sleep_mode) by criu (sleep_mode_backend), and only of cumem"],
        ),
    )
    for given, said in cases:
        told = list(against_loading(configured(**given)))
        assert len(told) == len(said), told
        assert all(
            f"sleep mode is on {each}" in line for each, line in zip(said, told, strict=True)
        )


def configured(*, on: bool = True, device: str = "cuda", backend: str = "cumem") -> Any:  # noqa: ANN401 - vLLM's
    """What else is asked of a configuration, and its sleep mode."""
    off = SimpleNamespace(cpu_offload_gb=0, offload_group_size=0)
    return SimpleNamespace(
        load_config=SimpleNamespace(load_format="auto"),
        offload_config=SimpleNamespace(uva=off, prefetch=off),
        parallel_config=SimpleNamespace(tensor_parallel_size=1, pipeline_parallel_size=1),
        model_config=SimpleNamespace(enable_sleep_mode=on, sleep_mode_backend=backend),
        device_config=SimpleNamespace(device_type=device),
        weight_transfer_config=None,
    )


def weights_are_not_discarded_by_their_tag() -> None:
    """The cache is, where vLLM can; a vLLM that cannot says so."""
    with bed() as of:
        before = of.seen()
        for given in ((("weights",),), (("kv_cache", "weights"),), ("weights",)):
            told = raised(Refused, lambda: of.worker.discard(*given))  # noqa: B023 - called at once
            assert told.startswith("discard: weights cannot be discarded while experts are in two")
        assert "discard" in raised(Refused, lambda: of.worker.discard(tags=("weights",)))
        assert of.asleep() == set()
        if hasattr(gpu_worker.Worker, "discard"):
            of.worker.discard(("kv_cache",))
            assert of.asleep() == {"kv_cache"}
            of.worker.wake_up(["kv_cache"])
        else:
            told = raised(NotImplementedError, lambda: of.worker.discard(("kv_cache",)))
            assert told == "discard: this vLLM has no such call"
        of.require_as_before(before)


CHECKS = (
    what_cannot_sleep_is_refused_with_nothing_lost,
    sleep_mode_is_taken_on_cuda_by_cumem_alone,
    weights_are_not_discarded_by_their_tag,
)
