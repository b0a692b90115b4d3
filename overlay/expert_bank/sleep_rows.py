# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Hot rows whose memory goes away while an engine sleeps: proven before, refilled and proven after."""

from collections.abc import Iterator

from expert_bank.bank import LayerBank
from expert_bank.ranges import Range
from expert_bank.refused import worded
from expert_bank.swapping import plain_copy
from expert_bank.table_layout import COLD, HOT
from expert_bank.two_bank import TwoBank


def mirrored_ranges(two_bank: TwoBank) -> list[Range]:
    """List where the hot rows are that a mirror has, too: they need not be kept.

    A layer all of whose experts are hot has no cold row, in whatever mode.
    """
    return [
        Range(start := each.hot.data_ptr(), start + each.hot.nbytes)
        for bank in two_bank.swapper.banks
        if bank.mirrors
        for each in bank.tensors
    ]


def staged_ranges(two_bank: TwoBank) -> list[Range]:
    """List where the staging buffer is: whatever it has is copied anew for each step."""
    buffer = [] if two_bank.staging is None else two_bank.staging.buffer()
    return [Range(start := each.data_ptr(), start + each.nbytes) for each in buffer]


def against_sleep(two_bank: TwoBank) -> Iterator[str]:
    """Yield what is wrong already, and would not come back; reads each hot expert's mirror row.

    Args:
        two_bank: On a drained device.
    """
    for layer, bank in enumerate(two_bank.swapper.banks):
        try:
            two_bank.table.mend(layer)
        except Exception as error:  # noqa: BLE001 - a pull request's table may raise what it likes
            yield f"{bank.name}: an entry's failed change cannot be taken back: {worded(error)}"
        if bank.mirrors:
            experts = [*_hot(two_bank, layer)]
            for expert in experts:
                two_bank.swapper.wanted(layer, expert)
            yield from two_bank.swapper.loaded.wrong_among(
                layer, COLD, {expert: expert for expert in experts}
            )
            for expert in experts:
                two_bank.swapper.vacated(layer, COLD, expert)
    yield from _against_tables(two_bank)


def refill(two_bank: TwoBank) -> int:
    """Copy hot rows out of the mirror to where the host's table has them; every other one is zeroed.

    Returns:
        How many rows were copied.
    """
    swapper, count = two_bank.swapper, 0
    for layer, bank in enumerate(swapper.banks):
        if not bank.mirrors:
            continue
        hot = _hot(two_bank, layer)
        for expert, row in hot.items():
            swapper.wanted(layer, expert)
            plain_copy(bank.row(HOT, row), bank.row(COLD, expert))
            swapper.vacated(layer, COLD, expert)
        for row in set(range(bank.hot)) - set(hot.values()):
            _empty(bank, row)
            swapper.vacated(layer, HOT, row)
        count += len(hot)
    return count


def against_waking(two_bank: TwoBank) -> Iterator[str]:
    """Yield which hot rows are not what was loaded, and which entries are not the host's."""
    for layer in range(len(two_bank.swapper.banks)):
        yield from two_bank.swapper.loaded.wrong_among(layer, HOT, _hot(two_bank, layer))
    yield from _against_tables(two_bank)


def _against_tables(two_bank: TwoBank) -> Iterator[str]:
    """Yield which entries the device has otherwise; else, that the table's own check says so."""
    whole = True
    for layer, bank in enumerate(two_bank.swapper.banks):
        for expert in two_bank.table.differing(layer):
            whole = False
            yield f"{bank.name}, expert {expert}: the device's table has it elsewhere than the host's"
    if whole and not two_bank.table.agrees():
        yield "the device's table is not whole by its own check"


def _hot(two_bank: TwoBank, layer: int) -> dict[int, int]:
    """Give the row of each hot expert."""
    places = (
        (expert, *two_bank.table.where(layer, expert))
        for expert in range(two_bank.swapper.banks[layer].experts)
    )
    return {expert: row for expert, bank, row in places if bank == HOT}


def _empty(bank: LayerBank, row: int) -> None:
    for each in bank.row(HOT, row):
        each.zero_()
