"""Checks of a worker that sleeps with two banks: ``sleeping_worker.py RESULT``; needs vLLM.

vLLM's worker, back end and allocator run as they are; ``sleeping_bed`` says what stands in for what.
"""

import random
from types import SimpleNamespace
from typing import Any

from checks import tell
from mapped_pool import dies
from sleeping_bed import Bed, bed, first_weights
from sleeping_worker_faults import AGAIN, STEP
from sleeping_worker_faults import CHECKS as FAULTS
from small_banks import MODES, raised
from vllm.v1.worker import gpu_worker

from expert_bank.forced import Forced
from expert_bank.glue.against import against_loading
from expert_bank.refused import Refused
from expert_bank.steering import hot_experts
from expert_bank.swaps import Swap

# Ways to wake: what each call names.
WAYS: tuple[tuple[list[str] | None, ...], ...] = (
    (None,),
    (["weights", "kv_cache"],),
    (["kv_cache"], ["weights"]),
    (["weights"], ["kv_cache"]),
)


def swapped(of: Bed, draw: random.Random) -> None:
    """Exchange experts at the barrier; every hot row has one then, too."""
    for layer, hot in enumerate(hot_experts(of.made.two_bank)):
        promote = draw.choice(sorted({*range(9)} - {*hot}))
        of.made.two_bank.barrier.swap([Swap(layer, promote, draw.choice(hot))])


def either_level_leaves_all_as_it_was() -> None:
    """Parameters, buffers and what is neither, rows and tables; swapped before and after; however woken."""
    draw = random.Random(2)  # noqa: S311 - no secret
    for mode in MODES:
        for level in (1, 2) if mode == "mirror" else (1,):
            with bed(mode) as of:
                for way in WAYS:
                    swapped(of, draw)
                    before = of.seen()
                    of.worker.sleep(level=level)
                    assert of.asleep() == {"weights", "kv_cache"}
                    assert dies(first_weights(of).sum)
                    assert of.made.two_bank.barrier.closed == ["sleep"]
                    for tags in way:
                        of.worker.wake_up(tags=tags)
                        woken = "weights" not in of.asleep()
                        assert (of.worker.asleep is None) == woken
                        assert of.made.two_bank.barrier.closed == ([] if woken else ["sleep"])
                    assert of.asleep() == set()
                    of.require_as_before(before)


def a_mirrors_weights_are_not_backed_up_by_vllm_too() -> None:
    """At either level; exclusive banks' are, and by nobody else."""
    for mode in MODES:
        for level in (1, 2) if mode == "mirror" else (1,):
            with bed(mode) as of:
                of.worker.sleep(level)
                assert of.backed_up() == ({"weights"} if mode == "exclusive" else set())
                assert (of.worker.asleep.kept.size > 0) == (mode == "mirror")
                assert bool(of.driver.known) == (mode == "mirror")
                of.worker.wake_up()


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


def a_sleep_within_a_sleep_lets_go_what_is_awake() -> None:
    """And reads nothing of what is asleep; refused stays refused."""
    for mode in MODES:
        with bed(mode) as of:
            before = of.seen()
            levels = (1, 2) if mode == "mirror" else (1,)
            of.worker.sleep(levels[0])
            for level in levels:
                of.worker.sleep(level)
            of.worker.wake_up(["kv_cache"])
            for level in levels:
                of.worker.sleep(level)
                assert of.asleep() == {"weights", "kv_cache"}
            if mode == "exclusive":
                assert "no other copy" in raised(Refused, lambda: of.worker.sleep(2))
            of.worker.wake_up(["weights"])
            assert of.asleep() == {"kv_cache"}
            of.require_as_before(before)
            of.worker.sleep(levels[-1])
            assert of.asleep() == {"weights", "kv_cache"}
            of.worker.wake_up()
            of.require_as_before(before)


def what_is_asked_meanwhile_goes_on_or_is_refused() -> None:
    """Whatever would read a row ends the process here; counts, budgets and wishes do not."""
    with bed() as of:
        worker, barrier = of.worker, of.made.two_bank.barrier
        hot = hot_experts(of.made.two_bank)
        promote, demote = min({*range(9)} - {*hot[0]}), hot[0][0]
        worker.sleep(1)
        told = raised(Refused, worker.expert_bank_banks)
        assert told == "expert_bank_banks: the weights are asleep\nwake_up brings them back"
        told = raised(Refused, lambda: worker.execute_model(STEP))
        assert told.startswith("a forward was scheduled: the weights are asleep")
        swap = [[0, promote, demote]]
        assert "during sleep" in raised(Refused, lambda: worker.expert_bank_swap(swap))
        other = [sorted({promote, *hot[0]} - {demote}), hot[1]]
        assert "during sleep" in raised(Refused, lambda: worker.expert_bank_map(other))
        assert worker.expert_bank_map() == hot
        assert worker.expert_bank_usage()["tokens"] == 0
        assert worker.expert_bank_stats()["forwards"] == 0
        assert worker.expert_bank_follow({"every": 8})["frozen"] is False
        worker.expert_bank_freeze(True)  # noqa: FBT003 - as it comes by RPC
        worker.expert_bank_budget(2**30, 1.0)
        worker.expert_bank_force(1, 1, 1)
        assert isinstance(barrier.source, Forced)
        worker.wake_up()
        before = barrier.totals.swaps
        barrier.forward()
        assert barrier.totals.swaps > before
        of.made.require_whole()


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


def an_engine_without_banks_sleeps_as_vllms_does() -> None:
    """Nothing is kept, and level 2 loses what it loses."""
    with bed() as of:
        of.worker.two_bank = None
        before = of.seen()
        of.worker.sleep(2)
        assert of.worker.asleep is None
        of.worker.wake_up()
        after = of.seen()
        assert not all(one.equal(other) for one, other in zip(before, after, strict=True))


CHECKS = (
    either_level_leaves_all_as_it_was,
    a_mirrors_weights_are_not_backed_up_by_vllm_too,
    what_cannot_sleep_is_refused_with_nothing_lost,
    sleep_mode_is_taken_on_cuda_by_cumem_alone,
    a_sleep_within_a_sleep_lets_go_what_is_awake,
    what_is_asked_meanwhile_goes_on_or_is_refused,
    weights_are_not_discarded_by_their_tag,
    an_engine_without_banks_sleeps_as_vllms_does,
    *FAULTS,
)


if __name__ == "__main__":
    tell(CHECKS)
