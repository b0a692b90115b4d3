"""Checks of staged rows that are compared on a device, which nobody waits for; run by ``cuda_glue``.

The device is told: its tensors are the CPU's, say that they are elsewhere, and refuse to be
read by the host while a step runs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from small_banks import Small, raised
from staged_banks import EXPERTS, MANY, Odd, staged, staging_of

from expert_bank.bank import RowTensor
from expert_bank.staging.batched import one_by_one
from expert_bank.staging.copies import Copies

# What brings a tensor's values to the host, which waits for the device.
READS = ("item", "tolist", "__bool__", "__int__", "__index__", "numpy", "equal", "cpu")
ELSEWHERE = torch.device("cuda", 0)
LAYERS, HOT = 2, 5
COLD = EXPERTS - HOT


class Waited(AssertionError):  # noqa: N818 - it is what the host did
    """The host read what a device has, within a step."""


class OnDevice(torch.Tensor):  # type: ignore[misc]
    """A tensor that says it is on a device; whatever is computed with it is, too."""

    running = False
    device = property(lambda _self: ELSEWHERE)

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - torch's
        """Compute as torch does, unless the host would have to wait."""
        if cls.running and func.__name__ in READS:
            raise Waited(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


def on_device(side: Odd) -> Small:
    """Make banks whose cold and staged rows a device compares."""
    made, staging = staged([HOT] * LAYERS, "mirror", side=side)
    for each in staging.layers.values():
        tensors = tuple(
            replace(tensor, cold=told(tensor.cold), stage=told(staged_rows(tensor)))
            for tensor in each.bank.tensors
        )
        each.bank, each.wrong = replace(each.bank, tensors=tensors), told(each.wrong)
    return made


def told(tensor: torch.Tensor) -> torch.Tensor:
    """Tell that it is on a device; the memory stays the same."""
    return tensor.as_subclass(OnDevice)


def staged_rows(tensor: RowTensor) -> torch.Tensor:
    """The buffer's, [S, ...]."""
    assert tensor.stage is not None
    return tensor.stage


def steps(made: Small, count: int) -> None:
    """Stage every layer in each of so many steps, of which nothing is waited for."""
    staging = staging_of(made)
    for _ in range(count):
        with made.two_bank.step(MANY, prefill=True):
            OnDevice.running = True
            try:
                for layer in range(LAYERS):
                    staging.enter(layer)
            finally:
                OnDevice.running = False


def rows_that_were_copied_are_not_told() -> None:
    """However often each was compared."""
    made = on_device(Odd(one_by_one))
    steps(made, 9)
    staging = staging_of(made)
    assert (staging.off, staging.done.steps, staging.done.rows) == ("", 9, 9 * LAYERS * COLD)
    assert list(staging.audit()) == []
    assert made.two_bank.audit() == []


def a_row_that_is_not_copied_is_noted_and_told_by_the_audit() -> None:
    """By layer, in every tensor of it; the step goes on, for nobody waited to know."""
    last: list[int] = []

    def without_last(copies: Copies) -> None:
        one_by_one(copies.some(~np.isin(copies.to, last)))

    made = on_device(Odd(without_last))
    staging = staging_of(made)
    for stage in staging.layers.values():
        last += [each[-1].data_ptr() for each in stage.slots().values()]
    steps(made, 2 * COLD)
    assert (staging.off, staging.done.failed) == ("", 0)
    # One of a layer's rows is compared in each step.
    tensors = len(last) // LAYERS
    lines = [
        f"layers.{layer}.experts: {2 * tensors} staged rows were not what they are copies of"
        for layer in range(LAYERS)
    ]
    assert list(staging.audit()) == lines
    assert made.two_bank.audit() == lines


def the_host_is_seen_to_wait_where_it_does() -> None:
    """The negative control: each way to read a value, of what is computed of it, too."""
    wrong = torch.zeros(1, dtype=torch.int32).as_subclass(OnDevice)
    wrong += (wrong != 1).any()
    assert (wrong.device.type, int(wrong)) == ("cuda", 1)
    OnDevice.running = True
    try:
        for read in (int, bool, lambda each: torch.equal(each, each), torch.Tensor.item):
            raised(Waited, lambda: read(wrong))  # noqa: B023 - called at once
    finally:
        OnDevice.running = False


CHECKS = (
    rows_that_were_copied_are_not_told,
    a_row_that_is_not_copied_is_noted_and_told_by_the_audit,
    the_host_is_seen_to_wait_where_it_does,
)
