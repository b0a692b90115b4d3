"""A CUDA device's streams in Python: each does what it is told at once, or as late as events let it.

vLLM's op for batches of copies moves host memory, when its stream comes to it. Whoever waits for no
event reads what was there before, or has written over what was still to be read.
"""

import ctypes
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from unittest.mock import patch

import torch
from vllm._custom_ops import swap_blocks_batch

from expert_bank.glue import side_stream

OP = inspect.signature(swap_blocks_batch)


@dataclass(frozen=True)
class Event:
    """A place in a stream: behind so many of the things that it was told."""

    stream: "Stream"
    behind: int

    def reach(self) -> None:
        """Have the stream come here."""
        self.stream.run(self.behind)


@dataclass(eq=False)
class Stream:
    """Does what it is told in that order.

    Attributes:
        eager: Whether at once.
        capturing: Whether a graph is captured from it.
        told: All that it was told.
        done: How much of it ran.
    """

    eager: bool
    capturing: bool = False
    told: list[Callable[[], object]] = field(default_factory=list)
    done: int = 0

    def enqueue(self, act: Callable[[], object]) -> None:
        """Take something to do."""
        self.told.append(act)
        if self.eager:
            self.run()

    def run(self, until: int | None = None) -> None:
        """Do what is to be done, or as much of it."""
        while self.done < (len(self.told) if until is None else until):
            self.done += 1
            self.told[self.done - 1]()

    def record_event(self) -> Event:
        """Mark what was told so far."""
        return Event(self, len(self.told))

    def wait_event(self, event: Event) -> None:
        """Go on behind an event; who waits for a stream that is captured is captured, too."""
        self.capturing |= event.stream.capturing
        self.enqueue(event.reach)


class LazyDevice:
    """What ``torch.cuda`` and vLLM's op are while one is entered.

    Attributes:
        forward: The forwards' stream.
        sides: Streams that were made, each with the device it was asked for.
        current: The stream of the calling thread.
        batches: Copies of each call of vLLM's op.
    """

    def __init__(self, *, forward: bool, side: bool) -> None:
        """Say which streams do at once what they are told."""
        self.forward = self.current = Stream(forward)
        self.sides: list[tuple[torch.device, Stream]] = []
        self.batches: list[int] = []
        self._side = side

    def made(self, device: torch.device) -> Stream:
        """Make a stream."""
        self.sides.append((device, Stream(self._side)))
        return self.sides[-1][1]

    @contextmanager
    def within(self, stream: Stream) -> Iterator[None]:
        """Make a stream the current one while the block runs."""
        before, self.current = self.current, stream
        try:
            yield
        finally:
            self.current = before

    def swap(self, *args: object, **kwargs: object) -> None:
        """Enqueue a batch on the current stream."""
        given = OP.bind(*args, **kwargs).arguments
        pointers = [given[name] for name in ("dst_ptrs", "src_ptrs", "sizes")]
        assert all((each.device.type, each.dtype) == ("cpu", torch.int64) for each in pointers)
        rows = list(zip(*(each.tolist() for each in pointers), strict=True))
        self.batches.append(len(rows))
        for each in rows:
            self.current.enqueue(partial(ctypes.memmove, *each))


@contextmanager
def lazy_device(*, forward: bool = False, side: bool = False) -> Iterator[LazyDevice]:
    """Have one for a while; see ``LazyDevice``."""
    device = LazyDevice(forward=forward, side=side)
    with (
        patch.object(torch.cuda, "Stream", device.made),
        patch.object(torch.cuda, "stream", device.within),
        patch.object(torch.cuda, "current_stream", lambda: device.current),
        patch.object(torch.cuda, "is_current_stream_capturing", lambda: device.current.capturing),
        patch.object(side_stream, "swap_blocks_batch", device.swap),
    ):
        yield device
