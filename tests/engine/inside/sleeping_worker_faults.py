"""Checks of a worker's sleep that something stands against; run by ``sleeping_worker``."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from sleeping_bed import bed
from small_banks import MODES, raised

from expert_bank.asleep import NotRestored
from expert_bank.glue import sleeping
from expert_bank.host_budget import HostBudget
from expert_bank.refused import Refused
from expert_bank.steering import hot_experts
from expert_bank.table_layout import HOT

# Scheduled, whatever it is.
STEP = SimpleNamespace(total_num_scheduled_tokens=1)
AGAIN = "\nwake_up lets it answer again"


def a_sleep_that_vllm_ends_with_an_error_is_undone() -> None:
    """After it let memory go, and before; the error is vLLM's own."""
    for mode in MODES:
        with bed(mode) as of:
            before = of.seen()
            of.driver.grows = 2**30
            told = raised(AssertionError, lambda: of.worker.sleep(1))
            assert told == "Memory usage increased after sleeping."
            assert of.asleep() == set()
            of.require_as_before(before)
            of.driver.grows = 0
            with patch.object(of.allocator, "sleep", fails):
                assert raised(OSError, lambda: of.worker.sleep(1)) == "no"
            of.require_as_before(before)
            of.worker.sleep(1)
            of.worker.wake_up()
            of.require_as_before(before)


def fails(**_: object) -> None:
    """Fail as nothing of vLLM's does."""
    raise OSError("no")


def a_sleep_that_can_neither_be_ended_nor_undone_stays_closed() -> None:
    """Both are told; nothing runs on what is not there, and waking can be tried again."""
    with bed() as of:
        before = of.seen()
        of.driver.grows, of.driver.fails = 2**30, 1
        notes: list[str] = []
        try:
            of.worker.sleep(1)
        except AssertionError as error:
            notes = error.__notes__
        assert notes == ["and it was not woken again: RuntimeError: CUDA Error: out of memory"]
        assert of.made.two_bank.barrier.closed == ["sleep"]
        assert "asleep" in raised(Refused, lambda: of.worker.execute_model(STEP))
        of.worker.wake_up()
        of.require_as_before(before)


def a_waking_that_finds_no_memory_can_be_tried_again() -> None:
    """What came back before it did is not taken for whole."""
    with bed() as of:
        before = of.seen()
        of.worker.sleep(2)
        of.driver.fails = 1
        assert "out of memory" in raised(RuntimeError, of.worker.wake_up)
        assert of.made.two_bank.barrier.closed == ["sleep"]
        of.worker.wake_up()
        of.require_as_before(before)


def a_spoilt_mirror_is_named_and_nothing_is_served() -> None:
    """Not even after it was woken again."""
    with bed() as of:
        bank = of.made.two_bank.swapper.banks[1]
        expert = hot_experts(of.made.two_bank)[1][0]
        assert of.made.two_bank.table.where(1, expert)[0] == HOT
        of.worker.sleep(1)
        bank.tensors[3].cold[expert] += 1
        for _ in range(2):
            told = raised(NotRestored, of.worker.wake_up)
            assert f"layers.1.experts, expert {expert}: hot row" in told
            assert "of w2_weight is not what was loaded" in told
            assert "asleep" in raised(Refused, lambda: of.worker.execute_model(STEP))


def host_memory_without_room_refuses_before_anything_is_let_go() -> None:
    """With its numbers; to the byte, of what is kept or of what vLLM backs up, and of no cache."""
    for mode in MODES:
        with bed(mode) as of:
            before = of.seen()
            of.worker.sleep(1)
            held = of.allocator.pointer_to_data.values()
            backups = [each.handle[1] for each in held if each.cpu_backup_tensor is not None]
            need = of.worker.asleep.kept.size + sum(1 << (n - 1).bit_length() for n in backups)
            of.worker.wake_up()
            with left(need - 1):
                told = raised(Refused, lambda: of.worker.sleep(1))
            assert "of host memory are needed" in told
            assert "are left; nothing was discarded\nthe machine: " in told
            assert AGAIN in told
            assert of.asleep() == set()
            of.require_as_before(before)
            with left(need):
                of.worker.sleep(1)
            of.worker.wake_up()
            of.require_as_before(before)


def left(size: int) -> Any:  # noqa: ANN401 - a patch
    """Have host memory so many bytes left."""
    budget = HostBudget((("the machine", (("MemAvailable", size),)),))
    return patch.object(sleeping, "host_budget", lambda **_: budget)


CHECKS = (
    a_sleep_that_vllm_ends_with_an_error_is_undone,
    a_sleep_that_can_neither_be_ended_nor_undone_stays_closed,
    a_waking_that_finds_no_memory_can_be_tried_again,
    a_spoilt_mirror_is_named_and_nothing_is_served,
    host_memory_without_room_refuses_before_anything_is_let_go,
)
