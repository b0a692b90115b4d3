"""Checks of copies on a side stream, over ``lazy_device``'s; run by ``cuda_glue``."""

from functools import partial
from itertools import product

import numpy as np
import torch
from lazy_device import LazyDevice, lazy_device
from small_banks import raised

from expert_bank.glue.side_stream import SideStream
from expert_bank.staging.batched import SMALL, CopyRefusedError
from expert_bank.staging.copies import Copies, NotApart

CUDA = torch.device("cuda", 1)
SIZE = 4096


def rows(*values: int) -> list[torch.Tensor]:
    """Make ranges of bytes that all have a value each."""
    return [torch.full((SIZE,), each, dtype=torch.uint8) for each in values]


def copies(*moves: tuple[torch.Tensor, torch.Tensor]) -> Copies:
    """Ask for the bytes of second tensors in the first ones."""
    to, source, sizes = (
        np.array(each, np.int64)
        for each in zip(*((t.data_ptr(), s.data_ptr(), s.nbytes) for t, s in moves), strict=True)
    )
    return Copies(to, source, sizes)


def reads(device: LazyDevice, tensor: torch.Tensor) -> list[int]:
    """Have the forwards' stream read a range; the values are there once it came to it."""
    seen: list[int] = []
    device.forward.enqueue(lambda: seen.extend(tensor.unique().tolist()))
    return seen


def copies_come_behind_the_forward_and_before_its_readers() -> None:
    """Whichever stream is ahead of the other; the host waits for neither."""
    for forward, ahead in product((False, True), repeat=2):
        with lazy_device(forward=forward, side=ahead) as device:
            side = SideStream(CUDA)
            slot, source = rows(1, 2)
            before = reads(device, slot)
            device.forward.enqueue(partial(source.fill_, 3))
            pending = side.begin(copies((slot, source)))
            assert pending.wait() == SIZE
            if not (forward or ahead):
                assert (slot[0], source[0]) == (1, 2), "the host waited"
            behind = reads(device, slot)
            device.forward.run()
            assert (before, behind) == ([1], [3]), (forward, ahead, before, behind)
            ((asked, _),) = device.sides
            assert asked == CUDA


def what_nobody_waits_for_may_still_be_under_way() -> None:
    """The negative control: a reader that waits for nothing has the old bytes."""
    with lazy_device() as device:
        slot, source = rows(1, 2)
        SideStream(CUDA).begin(copies((slot, source)))
        seen = reads(device, slot)
        device.forward.run()
        assert seen == [1]


def copies_come_in_the_order_in_which_they_were_begun() -> None:
    """The second layer's rows are in the slots, though nobody waited for the first one's."""
    for ahead in (False, True):
        with lazy_device(side=ahead) as device:
            side = SideStream(CUDA)
            slot, first, second = rows(1, 2, 3)
            side.begin(copies((slot, first)))
            side.begin(copies((slot, second))).wait()
            seen = reads(device, slot)
            device.forward.run()
            assert seen == [3]


def small_and_large_ranges_are_copied_to_the_last_byte() -> None:
    """In a batch each; nothing beside them is written."""
    source = torch.Generator().manual_seed(41)
    sizes = [1, 7, SMALL, SMALL + 1, 3 * SMALL, 64]
    draw = [torch.randint(0, 255, (n,), dtype=torch.uint8, generator=source) for n in sizes]
    slots = [torch.full((n + 2,), 255, dtype=torch.uint8) for n in sizes]
    with lazy_device() as device:
        side = SideStream(CUDA)
        asked = copies(*((to[1:-1], each) for to, each in zip(slots, draw, strict=True)))
        assert side.begin(asked).wait() == sum(sizes) == side.copy.bytes
        device.forward.run()
        assert sorted(device.batches) == [2, 4]
        assert side.copy.calls == 2
    for to, each in zip(slots, draw, strict=True):
        assert to[1:-1].equal(each)
        assert (to[0], to[-1]) == (255, 255)


def nothing_is_copied_while_a_graph_is_captured() -> None:
    """Of the forwards' stream, behind which the copies would come; nor of ranges that meet."""
    with lazy_device(side=True) as device:
        side = SideStream(CUDA)
        slot, source = rows(1, 2)
        assert "is copied while" in raised(NotApart, lambda: side.begin(copies((slot, slot))))
        device.forward.capturing = True
        told = raised(CopyRefusedError, lambda: side.begin(copies((slot, source))))
        assert "1 copies were asked for while a graph is captured" in told
        assert device.current is device.forward
        assert (device.batches, side.copy.bytes) == ([], 0)
        assert slot.unique().tolist() == [1]


CHECKS = (
    copies_come_behind_the_forward_and_before_its_readers,
    what_nobody_waits_for_may_still_be_under_way,
    copies_come_in_the_order_in_which_they_were_begun,
    small_and_large_ranges_are_copied_to_the_last_byte,
    nothing_is_copied_while_a_graph_is_captured,
)
