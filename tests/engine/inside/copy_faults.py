"""Checks of swaps whose copies fail: ``copy_faults.py RESULT``; needs torch, not vLLM."""

import random
import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from unittest.mock import patch

import torch
from checks import tell
from small_banks import (
    CPU,
    GUARDED,
    MODES,
    ROWS,
    Small,
    bytes_of,
    copying,
    picks,
    random_swap,
    small,
)

from expert_bank.plan import Mode
from expert_bank.row_address import expert_addresses
from expert_bank.swapping import Rows, plain_copy
from expert_bank.swaps import Swap
from expert_bank.table_layout import BANK, HOT

NAMES = list(ROWS)
KINDS = (RuntimeError, ValueError, OSError)
SCALES = [name for name in NAMES if "scale" in name]


class Raises:
    """Copies some tensors' rows, then fails as a device does, or as a pull request's code may."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.kind = KINDS[after % len(KINDS)]

    def __call__(self, to: Rows, source: Rows) -> None:
        plain_copy(to[: self.after], source[: self.after])
        raise self.kind("an illegal memory access")


class Only:
    """Copies the rows of some tensors, and says nothing of the others."""

    def __init__(self, names: Sequence[str]) -> None:
        self.kept = [number for number, name in enumerate(NAMES) if name in names]

    def __call__(self, to: Rows, source: Rows) -> None:
        plain_copy([to[each] for each in self.kept], [source[each] for each in self.kept])


class Late:
    """Leaves what it is to copy to whoever copies it later."""

    def __init__(self, late: list[tuple[Rows, Rows]]) -> None:
        self.late = late

    def __call__(self, to: Rows, source: Rows) -> None:
        self.late.append((to, source))


class Elsewhere:
    """Copies to another row of the same tensors."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def __call__(self, to: Rows, source: Rows) -> None:  # noqa: ARG002 - it is what goes wrong
        plain_copy(self.rows, source)


@dataclass(frozen=True)
class Fault:
    """A way to copy wrongly, and the tensors whose rows do not get there."""

    name: str
    copy: Raises | Only
    tensors: Sequence[str]
    said: str


def faults() -> Iterator[Fault]:
    """At every step, of every tensor."""
    for after in range(len(NAMES) + 1):
        raises = Raises(after)
        said = f"was not copied to: {raises.kind.__name__}: an illegal memory access"
        yield Fault(f"raises after {after}", raises, NAMES[after:], said)
    yield Fault("copies nothing", Only([]), NAMES, "not what was loaded")
    for name in NAMES:
        others = [each for each in NAMES if each != name]
        yield Fault(f"copies {name} alone", Only([name]), others, "not what was loaded")
        yield Fault(f"leaves {name}", Only(others), [name], "not what was loaded")
    weights = [each for each in NAMES if each not in SCALES]
    yield Fault("leaves the scales", Only(weights), SCALES, "not what was loaded")


def both_ways() -> Iterator[tuple[Mode, Swap, int]]:
    """A swap of each mode, and the expert whose copy is the first one."""
    yield "mirror", Swap(0, 5, 0), 5
    yield "exclusive", Swap(0, 5, 0), 0
    yield "exclusive", Swap(0, 5, None), 5


def fresh(mode: Mode, swap: Swap, *, poison: bool) -> Small:
    """Banks with what the swap needs free."""
    made = small([3], mode, first=[[0, 1, 2]], poison=poison)
    if swap.demote is None:
        assert not made.two_bank.swapper.swap(Swap(0, None, 1)).failure
    return made


def the_expert_stays_on_a_whole_row_and_is_named() -> None:
    """Whatever fails, of every tensor, in both modes, with and without poison."""
    for fault in faults():
        for mode, swap, expert in both_ways():
            for poison in (False, True):
                made = fresh(mode, swap, poison=poison)
                before = made.two_bank.table.where(0, expert)
                with copying(made, fault.copy):
                    swapped = made.two_bank.swapper.swap(swap)
                assert made.two_bank.table.where(0, expert) == before, fault.name
                assert swapped.bytes == 0, fault.name
                assert f"layers.0.experts, expert {expert}: " in swapped.failure, swapped
                assert fault.said in swapped.failure, swapped
                named = re.findall(r"row \d of ([^;]+) is not what was loaded", swapped.failure)
                assert named == [", ".join(fault.tensors)] * bool(fault.tensors), swapped
                made.require_poisoned() if poison else made.require_whole()
                ids = picks(1, 20)
                assert made.forward(ids).equal(made.resident(ids))


def a_failure_is_healed_by_later_swaps() -> None:
    """The same swap, or any others, once copies work again."""
    for fault in faults():
        for mode, swap, expert in both_ways():
            made = fresh(mode, swap, poison=True)
            swapper = made.two_bank.swapper
            with copying(made, fault.copy):
                swapper.swap(swap)
            hot = made.two_bank.table.is_hot()[0]
            rest = Swap(0, 5, 0 if swap.demote is not None and hot[0] else None)
            assert not swapper.swap(rest).failure, (fault.name, expert)
            made.require_poisoned()
            draw = random.Random(2)  # noqa: S311 - no secret
            for _ in range(5):
                other = random_swap(draw, made)
                assert other is not None
                assert not swapper.swap(other).failure
                made.require_whole()


def faults_among_random_swaps_never_show() -> None:
    """Every third copy fails in some way; every forward is the resident layer's."""
    found = [each.copy for each in faults()]
    for mode in MODES:
        made, draw = small([4, 6], mode, seed=3, poison=True), random.Random(3)  # noqa: S311 - no secret
        swapper, failed = made.two_bank.swapper, 0
        for step in range(100):
            swap = random_swap(draw, made)
            if swap is None:
                continue
            with copying(made, draw.choice([plain_copy, plain_copy, draw.choice(found)])):
                failed += bool(swapper.swap(swap).failure)
            made.require_whole()
            ids = picks(step, 7)
            assert made.forward(ids, swap.layer).equal(made.resident(ids, swap.layer))
        assert 10 < failed < 90


def a_copy_to_anothers_row_is_named_with_the_other() -> None:
    """In a mirror the other is served from there at once; the only copy is named until it heals."""
    made = small([3], "mirror", first=[[0, 1, 2]])
    swapper, table = made.two_bank.swapper, made.two_bank.table
    with copying(made, Elsewhere(swapper.banks[0].row(0, 2))):
        failure = swapper.swap(Swap(0, 5, 0)).failure
    names = ", ".join(NAMES)
    assert failure.split("; ") == [
        f"layers.0.experts, expert 5: hot row 0 of {names} is not what was loaded",
        f"layers.0.experts, expert 2: hot row 2 of {names} is not what was loaded",
    ]
    assert table.where(0, 2) == (1, 2)
    made.require_whole()
    for expert in (2, 5):
        assert not swapper.swap(Swap(0, expert, None)).failure
    made.require_whole()

    made = small([3], "exclusive", first=[[0, 1, 2]])
    swapper = made.two_bank.swapper
    row = made.two_bank.table.where(0, 7)[1]
    with copying(made, Elsewhere(swapper.banks[0].row(1, row))):
        failure = swapper.swap(Swap(0, 5, 0)).failure
    assert f"layers.0.experts, expert 7: cold row {row} of {names} is not" in failure
    assert made.wrong() == [(0, 7, name) for name in NAMES]
    assert len(made.two_bank.audit()) == 1
    assert "expert 7: hot row" in swapper.swap(Swap(0, 7, 1)).failure
    for ours, loaded in zip(swapper.banks[0].row(1, row), made.loaded[0], strict=True):
        ours.copy_(loaded[7])
    assert not swapper.swap(Swap(0, 7, None)).failure
    made.require_whole()


def a_write_beyond_the_row_is_found() -> None:
    """In guard bytes by this test; in another's row, however whole the copied one is, by the audit."""
    made = small([3], "mirror", first=[[0, 1, 2]])
    swapper = made.two_bank.swapper

    def copy(to: Rows, source: Rows) -> None:
        plain_copy(to, source)
        row = to[1]
        beyond = torch.empty(0, dtype=torch.uint8).set_(
            row.untyped_storage(), row.storage_offset() + row.numel(), (2,), (1,)
        )
        beyond.fill_(0x11)

    with copying(made, copy):
        assert not swapper.swap(Swap(0, 5, 0)).failure
    (told,) = made.two_bank.audit()
    assert told == "layers.0.experts, expert 1: hot row 1 of w13_packed is not what was loaded"
    assert not swapper.swap(Swap(0, None, 1)).failure
    assert not swapper.swap(Swap(0, 1, None)).failure
    made.require_whole()
    with copying(made, copy):
        assert not swapper.swap(Swap(0, 6, 2)).failure
    assert sum(bool((guard != GUARDED).any()) for guard in made.guards) == 1
    assert not made.two_bank.audit()


def a_copy_that_comes_too_late_is_caught() -> None:
    """The table is switched only once the bytes are there, so its expert stays where it was."""
    for mode in MODES:
        made = small([3], mode, first=[[0, 1, 2]], poison=True)
        late: list[tuple[Rows, Rows]] = []
        with copying(made, Late(late)):
            failure = made.two_bank.swapper.swap(Swap(0, 5, 0)).failure
        assert "is not what was loaded" in failure
        ids = picks(3, 20)
        assert made.forward(ids).equal(made.resident(ids))
        for to, source in late:
            plain_copy(to, source)
        assert made.forward(ids).equal(made.resident(ids))
        made.require_whole()


def a_table_switched_before_the_bytes_shows_in_the_first_forward() -> None:
    """The negative control: nothing is verified, and the copy comes behind the forward."""
    for mode in MODES:
        made = small([3], mode, first=[[0, 1, 2]], poison=True)
        swapper, late = made.two_bank.swapper, list[tuple[Rows, Rows]]()
        swapper.loaded.wrong = lambda *_: ""  # type: ignore[method-assign]  # planted
        with copying(made, Late(late)):
            assert not swapper.swap(Swap(0, 5, 0)).failure
        ids = torch.tensor([[5, 1, 2], [1, 2, 3]], dtype=torch.int32, device=CPU)
        first = made.forward(ids)
        assert first.isnan().tolist() == [True, False]
        for to, source in late:
            assert bytes_of(to[0]).eq(0xFF).all()
            plain_copy(to, source)


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


PLACES = ("before", "write", "torn write", "behind the write", "first watcher", "last watcher")


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


def a_failed_copy_whose_check_fails_too_is_told_whole() -> None:
    """A device that has gone answers nobody; another's row that was hit stays named, too."""
    made = small([3], "mirror", first=[[0, 1, 2]])
    swapper, table = made.two_bank.swapper, made.two_bank.table
    assert not swapper.swap(Swap(0, None, 1)).failure
    with patch.object(swapper.loaded, "wrong", failing(0, OSError)), copying(made, Raises(0)):
        failure = swapper.swap(Swap(0, 5, None)).failure
    assert failure.split("; ") == [
        "layers.0.experts, expert 5: hot row 1 was not copied to: RuntimeError: an illegal memory access",
        "layers.0.experts, expert 5: hot row 1 was not checked: OSError: the device has gone",
    ]
    made.require_whole()
    table.before.append(failing(0, ValueError))
    with copying(made, Elsewhere(swapper.banks[0].row(HOT, 2))):
        failure = swapper.swap(Swap(0, 5, None)).failure
    assert failure.split("; ")[-2:] == [
        f"layers.0.experts, expert 2: hot row 2 of {', '.join(NAMES)} is not what was loaded",
        "layers.0.experts, expert 2: ValueError: the device has gone, so it is still served from there",
    ]


class Failing:
    """Raises when it is called for certain times, the first one's 0.

    Attributes:
        numbers: Which.
    """

    def __init__(self, numbers: Container[int], kind: type[Exception]) -> None:
        self.numbers = numbers
        self.kind = kind
        self.calls = 0

    def __call__(self, *_: object) -> None:
        self.calls += 1
        if self.calls - 1 in self.numbers:
            raise self.kind("the device has gone")


def failing(number: int, kind: type[Exception]) -> Failing:
    """Make what raises once."""
    return Failing((number,), kind)


CHECKS = (
    an_entry_that_cannot_be_written_loses_no_row,
    a_table_that_stays_broken_serves_what_it_served,
    addresses_that_cannot_be_kept_are_told,
    an_entry_that_was_not_taken_back_is_so_before_any_row_moves,
    a_hook_of_rows_that_raises_is_told,
    a_failed_copy_whose_check_fails_too_is_told_whole,
    the_expert_stays_on_a_whole_row_and_is_named,
    a_failure_is_healed_by_later_swaps,
    faults_among_random_swaps_never_show,
    a_copy_to_anothers_row_is_named_with_the_other,
    a_write_beyond_the_row_is_found,
    a_copy_that_comes_too_late_is_caught,
    a_table_switched_before_the_bytes_shows_in_the_first_forward,
)


if __name__ == "__main__":
    tell(CHECKS)
