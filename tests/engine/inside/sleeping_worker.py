"""Checks of a worker that sleeps with two banks: ``sleeping_worker.py RESULT``; needs vLLM.

vLLM's worker, back end and allocator run as they are; ``sleeping_bed`` says what stands in for what.
"""

import random

from checks import tell
from mapped_pool import dies
from sleeping_bed import Bed, bed, first_weights
from sleeping_worker_faults import CHECKS as FAULTS
from sleeping_worker_faults import STEP
from sleeping_worker_refused import CHECKS as REFUSED
from small_banks import MODES, raised

from expert_bank.forced import Forced
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
    a_sleep_within_a_sleep_lets_go_what_is_awake,
    what_is_asked_meanwhile_goes_on_or_is_refused,
    an_engine_without_banks_sleeps_as_vllms_does,
    *FAULTS,
    *REFUSED,
)


if __name__ == "__main__":
    tell(CHECKS)
