"""Checks of swaps whose table, watchers or hooks raise: ``table_faults.py RESULT``; needs torch alone."""

import random
from collections.abc import Callable
from dataclasses import dataclass

import torch
from checks import tell
from failing import KINDS, Failing, both_ways, failing, fresh
from small_banks import MODES, ROWS, Small, picks, random_swap, small

from expert_bank.row_address import expert_addresses
from expert_bank.swaps import Swap
from expert_bank.table_layout import BANK

NAMES = list(ROWS)
PLACES = ("before", "write", "torn write", "behind the write", "first watcher", "last watcher")


class Pointers:
    """Addresses of one tensor's rows, kept by watching the table, as a kernel's own are.

    Attributes:
        addresses: int64[E] of layer 0.
    """

    def __init__(self, made: Small, name: str) -> None:
        self.table = made.two_bank.table
        self.rows = made.two_bank.swapper.banks[0].tensors[NAMES.index(name)]
        self.addresses = torch.zeros(made.experts, dtype=torch.int64)

    def __call__(self, _layer: int) -> None:
        found = expert_addresses(self.table.device[0], self.rows.hot, self.rows.cold)
        self.addresses.copy_(found)

    def require_right(self) -> None:
        """Every address is that of the row that the host's entry names."""
        for expert, address in enumerate(self.addresses.tolist()):
            bank, row = self.table.where(0, expert)
            assert address == (self.rows.cold if bank else self.rows.hot)[row].data_ptr()


@dataclass
class Planted:
    """Banks with a fault of what is asked when an entry changes.

    Attributes:
        made: Them.
        pointers: A watcher.
        fails: What raises.
    """

    made: Small
    pointers: Pointers
    fails: Callable[..., None]

    def require_right(self) -> None:
        """Every pick is served from its expert's row, by table and by pointers."""
        self.made.require_whole()
        self.pointers.require_right()
        ids = picks(1, 20)
        places = self.made.places(ids, 0)
        assert self.made.served(places, 0).equal(self.made.resident(ids))

    def require_swaps_go_on(self, seed: int) -> None:
        """Random ones, whatever failed before."""
        draw = random.Random(seed)  # noqa: S311 - no secret
        for _ in range(20):
            again = random_swap(draw, self.made)
            assert again is not None
            failure = self.made.two_bank.swapper.swap(again).failure
            assert not failure, failure
            self.require_right()


def planted(made: Small, place: str, fails: Callable[..., None]) -> Planted:
    """Plant what fails at one of ``PLACES``."""
    table, pointers = made.two_bank.table, Pointers(made, "w13_weight")
    pointers(0)
    written = table.write_entry

    def write(layer: int, expert: int) -> None:
        if place == "torn write":
            table.device[layer][BANK, expert] = int(table.host[layer, BANK, expert])
        if place == "behind the write":
            written(layer, expert)
        fails()
        written(layer, expert)

    if place == "before":
        table.before.append(fails)
    elif "write" in place:
        table.write_entry = write  # type: ignore[method-assign]
    table.watchers += [pointers]
    if place == "first watcher":
        table.watchers.insert(0, fails)
    elif place == "last watcher":
        table.watchers.append(fails)
    return Planted(made, pointers, fails)


def an_entry_that_cannot_be_written_loses_no_row() -> None:
    """Whoever fails, and however, before, at or behind the write: all is as it was, and swaps go on."""
    for mode, swap, _ in both_ways():
        asked = [each for each in (swap.demote, swap.promote) if each is not None]
        for place in PLACES:
            for kind in KINDS:
                for number, expert in enumerate(asked):
                    made = fresh(mode, swap, poison=False)
                    whole = planted(made, place, failing(number, kind))
                    swapper, table = made.two_bank.swapper, made.two_bank.table
                    where = [table.where(0, expert) for expert in range(9)]
                    failure = swapper.swap(swap).failure
                    said = (
                        f"layers.0.experts, expert {expert}: {kind.__name__}: the device has gone"
                    )
                    assert failure == said, (mode, swap, place, failure)
                    if number == 0:
                        assert where == [table.where(0, expert) for expert in range(9)]
                    whole.require_right()
                    whole.require_swaps_go_on(number)


def a_table_that_stays_broken_serves_what_it_served() -> None:
    """Each swap is told as failed, no row is lost; once it is whole again, swaps go on."""
    for mode in MODES:
        for place in PLACES:
            for kind in KINDS:
                fails = Failing(range(10**6), kind)
                whole = planted(small([3], mode, first=[[0, 1, 2]]), place, fails)
                swapper, table = whole.made.two_bank.swapper, whole.made.two_bank.table
                for expert in (5, 6, 7, 5):
                    swapped = swapper.swap(Swap(0, expert, 1))
                    assert f"layers.0.experts, expert 1: {kind.__name__}: " in swapped.failure
                    assert table.agrees()
                    assert not whole.made.wrong()
                    whole.pointers.require_right()
                    told = whole.made.two_bank.audit()
                    lines = [
                        "layers.0.experts, expert 1: its entry's failed change was not taken back"
                    ]
                    assert told == ([] if place == "before" else lines)
                fails.numbers = ()
                whole.require_swaps_go_on(1)


def addresses_that_cannot_be_kept_are_told() -> None:
    """Of rows that do not start at a multiple of 16, as a kernel wants them: a ValueError."""
    for mode in MODES:
        made = small([3], mode, first=[[0, 1, 2]])
        watchers = made.two_bank.table.watchers
        watchers.append(Pointers(made, "w2_weight"))
        failure = made.two_bank.swapper.swap(Swap(0, 5, 1)).failure
        told = "layers.0.experts, expert 1: ValueError: rows of 24 bytes do not all start"
        assert failure.startswith(told), failure
        assert not made.wrong()
        watchers.clear()
        assert not made.two_bank.swapper.swap(Swap(0, 5, 1)).failure
        made.require_whole()


def an_entry_that_was_not_taken_back_is_so_before_any_row_moves() -> None:
    """A watcher fails, and then the write that takes the entry back: either row may be read."""
    for mode in MODES:
        for kind in KINDS:
            made = small([3], mode, first=[[0, 1, 2]])
            two_bank = made.two_bank
            assert not two_bank.swapper.swap(Swap(0, None, 1)).failure
            whole = planted(made, "last watcher", failing(0, kind))
            table, ids = two_bank.table, picks(1, 20)
            written, fails = table.write_entry, Failing(range(1, 5), kind)

            def write(
                layer: int,
                expert: int,
                written: Callable[[int, int], None] = written,
                fails: Callable[..., None] = fails,
            ) -> None:
                fails()
                written(layer, expert)

            table.write_entry = write  # type: ignore[method-assign]
            assert two_bank.swapper.swap(Swap(0, 5, None)).failure
            assert not table.agrees()
            assert two_bank.audit() == [
                f"layers.0.experts, expert 5: {each}"
                for each in (
                    "the device's table has it elsewhere than the host's",
                    "its entry's failed change was not taken back",
                )
            ]
            for expert in (6, 7, 5):
                failure = two_bank.swapper.swap(Swap(0, expert, None)).failure
                assert "layers.0.experts, expert 5: " in failure
                assert "its entry is still not as it was" in failure
                assert made.served(made.places(ids, 0), 0).equal(made.resident(ids))
            whole.require_swaps_go_on(2)


def a_hook_of_rows_that_raises_is_told() -> None:
    """Before a mirror's row is read, and once nobody reads a row: no entry is lost, nor a row."""
    for mode, swap, _ in both_ways():
        asked = [each for each in (swap.demote, swap.promote) if each is not None]
        for name in ("wanted", "vacated"):
            called = asked if name == "vacated" else asked[:1] if mode == "mirror" else []
            for kind in KINDS:
                for number, expert in enumerate(called):
                    made = fresh(mode, swap, poison=False)
                    swapper, fails = made.two_bank.swapper, failing(number, kind)
                    setattr(swapper, name, fails)
                    failure = swapper.swap(swap).failure
                    told = (
                        f"layers.0.experts, expert {expert}: {kind.__name__}: the device has gone"
                    )
                    assert failure == told
                    made.require_whole()
                    planted(made, "nowhere", fails).require_swaps_go_on(number)


CHECKS = (
    an_entry_that_cannot_be_written_loses_no_row,
    a_table_that_stays_broken_serves_what_it_served,
    addresses_that_cannot_be_kept_are_told,
    an_entry_that_was_not_taken_back_is_so_before_any_row_moves,
    a_hook_of_rows_that_raises_is_told,
)


if __name__ == "__main__":
    tell(CHECKS)
