"""Checks of the table of places: ``table.py RESULT``; needs torch, not vLLM."""

import random

import torch
from checks import tell
from small_banks import CPU
from torch.utils._python_dispatch import TorchDispatchMode

from expert_bank.table import Table
from expert_bank.table_layout import BANK, COLD, GENERATION, HOT, PLACE, ROW

EXPERTS = 6


class Writes(TorchDispatchMode):  # type: ignore[misc]  # torch has no types here
    """Notes each operator that writes in place.

    Attributes:
        seen: Shape of what was written, one for each.
    """

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[int, ...]] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN204 - torch's
        if func._schema.is_mutable:  # noqa: SLF001 - there is no public way to ask
            self.seen.append(tuple(args[0].shape))
        return func(*args, **(kwargs or {}))


def filled() -> Table:
    """Two layers, of 2 and 3 hot rows."""
    table = Table([2, 3], EXPERTS, CPU)
    table.fill(0, [HOT, COLD, COLD, HOT, COLD, COLD], [1, 0, 3, 0, 1, 2])
    table.fill(1, [COLD, COLD, COLD, HOT, HOT, HOT], [0, 1, 2, 2, 1, 0])
    return table


def places_count_through_both_banks() -> None:
    """The row itself in the hot bank, H + row in the cold one."""
    table = filled()
    assert table.device[0][PLACE].tolist() == [1, 2, 5, 0, 3, 4]
    assert table.device[1][PLACE].tolist() == [3, 4, 5, 2, 1, 0]
    assert [table.where(0, expert) for expert in (0, 2)] == [(HOT, 1), (COLD, 3)]
    assert [each.tolist() for each in table.is_hot()] == [
        [True, False, False, True, False, False],
        [False, False, False, True, True, True],
    ]


def a_layer_before_its_fill_is_nowhere() -> None:
    """The host knows that it is; the device's entries are within any bank."""
    table = Table([2], EXPERTS, CPU)
    assert (table.host[0, [BANK, ROW, PLACE]] == -1).all()
    assert not table.device[0].any()
    assert table.differing(0) == list(range(EXPERTS))
    assert not table.agrees()


def an_entry_is_written_whole_in_one_copy() -> None:
    """One write of four numbers; no other entry, no other layer."""
    table = filled()
    before = [each.clone() for each in table.device]
    with Writes() as writes:
        table.point(0, 2, HOT, 1)
    assert writes.seen == [(4,)]
    assert table.device[0][:, 2].tolist() == [HOT, 1, 2, 1]
    rest = [each for each in range(EXPERTS) if each != 2]
    assert table.device[0][:, rest].equal(before[0][:, rest])
    assert table.device[1].equal(before[1])
    with Writes() as writes:
        table.fill(1, [HOT] * 3 + [COLD] * 3, list(range(6)))
    assert writes.seen == [(4, EXPERTS)]


def generations_grow_by_one_and_wrap() -> None:
    """Each change of an entry is another generation; past the largest it goes on."""
    table = filled()
    for generation in range(2, 50):
        table.point(0, 1, COLD, 0)
        assert table.device[0][GENERATION].tolist() == [1, generation, 1, 1, 1, 1]
    table.host[0, GENERATION, 1] = 2**31 - 1
    for generation in (-(2**31), 1 - 2**31):
        table.point(0, 1, COLD, 0)
        assert table.device[0][:, 1].tolist() == [COLD, 0, generation, 2]
        assert table.agrees()


def addresses_never_change() -> None:
    """Through any number of changes."""
    table, draw = filled(), random.Random(1)  # noqa: S311 - no secret
    addresses = [each.data_ptr() for each in table.device]
    for _ in range(200):
        table.point(draw.randrange(2), draw.randrange(EXPERTS), draw.randrange(2), 0)
    table.fill(0, [COLD] * EXPERTS, list(range(EXPERTS)))
    assert [each.data_ptr() for each in table.device] == addresses
    assert table.agrees()


def one_other_number_on_the_device_is_named() -> None:
    """Any of the four, of any expert."""
    for row in (BANK, ROW, GENERATION, PLACE):
        for expert in range(EXPERTS):
            table = filled()
            table.device[1][row, expert] += 1
            assert (table.differing(0), table.differing(1)) == ([], [expert])
            assert not table.agrees()


def the_hosts_copy_is_its_own() -> None:
    """On the CPU, too, the device's numbers are not the host's memory."""
    table = filled()
    table.device[0].zero_()
    assert table.where(0, 2) == (COLD, 3)
    assert all(isinstance(each, torch.Tensor) and each.is_contiguous() for each in table.device)


CHECKS = (
    places_count_through_both_banks,
    a_layer_before_its_fill_is_nowhere,
    an_entry_is_written_whole_in_one_copy,
    generations_grow_by_one_and_wrap,
    addresses_never_change,
    one_other_number_on_the_device_is_named,
    the_hosts_copy_is_its_own,
)


if __name__ == "__main__":
    tell(CHECKS)
