"""Checks of vLLM's prefetching offloader with our hook in it: ``prefetch_hook.py RESULT``.

Streams and events are doubles, and the driver's call copies host memory: there is no GPU here. What
lists the pairs and hands them on is vLLM's own method, as the patch leaves it.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from unittest.mock import patch

import torch
from checks import tell
from vllm.model_executor.offloader.prefetch import _ModuleOffloader

from expert_bank.glue import prefetch_copy
from expert_bank.staging.batched import one_by_one
from expert_bank.staging.copies import Addresses, Copies

SHAPES = {"w13_weight": (64, 1024), "w2_weight": (32, 16), "w2_bias": (7,)}


class Recorded:
    """Streams and events of one offloader: what was asked of them, in order."""

    def __init__(self) -> None:
        self.log: list[str] = []

    def stream(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(
            wait_event=lambda _event: self.log.append(f"{name} waits"),
            record_event=lambda _event: self.log.append(f"{name} recorded"),
        )

    def event(self) -> SimpleNamespace:
        return SimpleNamespace(record=lambda _stream: self.log.append("done recorded"))


def offloader(recorded: Recorded) -> _ModuleOffloader:
    """One layer's, whose buffers and storages are host memory."""
    made = object.__new__(_ModuleOffloader)
    made._buffer_pool = made
    made.copy_stream = recorded.stream("copies")
    made._copy_done_event = recorded.event()
    made._param_offloaders = {
        name: SimpleNamespace(_cpu_storage=torch.randn(shape), _gpu_buffer=torch.zeros(shape))
        for name, shape in SHAPES.items()
    }
    return made


@contextmanager
def driver(recorded: Recorded, *, capturing: bool = False) -> Iterator[list[list[int]]]:
    """Stand in for what needs a GPU; yields the sizes that each call of the driver had."""
    calls: list[list[int]] = []

    def submit(source: Addresses, to: Addresses, sizes: Addresses) -> None:
        recorded.log.append("submitted")
        calls.append(sizes.tolist())
        one_by_one(Copies(to, source, sizes))

    prefetch_copy.batches.cache_clear()
    with (
        patch("torch.cuda.is_current_stream_capturing", lambda: capturing),
        patch("torch.cuda.current_stream", lambda: recorded.stream("forward")),
        patch("torch.cuda.Event", recorded.event),
        patch("torch.cuda.stream", lambda _stream: nullcontext()),
        patch("expert_bank.glue.side_stream.submit", submit),
    ):
        yield calls
    prefetch_copy.batches.cache_clear()


def whole(made: _ModuleOffloader) -> bool:
    """Whether each buffer has its storage's bits."""
    pairs = made._param_offloaders.values()  # noqa: SLF001
    return all(torch.equal(each._gpu_buffer, each._cpu_storage) for each in pairs)  # noqa: SLF001


def a_layers_parameters_are_one_batch() -> None:
    """Small ones apart; behind the forward's stream, before the event that others wait for."""
    recorded = Recorded()
    made = offloader(recorded)
    with driver(recorded) as calls:
        made.start_onload_to_static()
        done = prefetch_copy.told()
    assert whole(made)
    assert calls == [[64 * 1024 * 4], [32 * 16 * 4, 7 * 4]]
    assert recorded.log == [
        "forward recorded", "copies waits", "submitted", "submitted", "done recorded",
    ]  # fmt: skip
    size = sum(sum(call) for call in calls)
    assert done == {"batches": 1, "tensors": 3, "bytes": size, "captured": 0, "unlike": 0}


def a_capture_gets_a_copy_for_each() -> None:
    """Which a graph can replay; no call of the driver is made."""
    recorded = Recorded()
    made = offloader(recorded)
    with driver(recorded, capturing=True) as calls:
        made.start_onload_to_static()
        done = prefetch_copy.told()
    assert whole(made)
    assert not calls
    assert made._prefetch_in_capture  # noqa: SLF001
    assert (done["captured"], done["bytes"]) == (3, 0)


def another_layout_is_copied_by_torch() -> None:
    """Beside those that are alike."""
    recorded = Recorded()
    made = offloader(recorded)
    odd = made._param_offloaders["w2_weight"]  # noqa: SLF001
    odd._cpu_storage = torch.randn(16, 32).t()  # noqa: SLF001
    with driver(recorded) as calls:
        made.start_onload_to_static()
        done = prefetch_copy.told()
    assert whole(made)
    assert calls == [[64 * 1024 * 4], [7 * 4]]
    assert (done["tensors"], done["unlike"]) == (2, 1)


def without_a_storage_nothing_is_copied() -> None:
    """The offloader's own checks come first, as before."""
    recorded = Recorded()
    made = offloader(recorded)
    made._param_offloaders["w2_bias"]._cpu_storage = None  # noqa: SLF001
    with driver(recorded) as calls:
        try:
            made.start_onload_to_static()
        except AssertionError as error:
            assert "CPU storage" in str(error)  # noqa: PT017
        else:
            raise AssertionError("it went on")
    assert not calls


CHECKS = (
    a_layers_parameters_are_one_batch,
    a_capture_gets_a_copy_for_each,
    another_layout_is_copied_by_torch,
    without_a_storage_nothing_is_copied,
)


if __name__ == "__main__":
    tell(CHECKS)
