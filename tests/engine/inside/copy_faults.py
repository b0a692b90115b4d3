"""Checks of swaps whose copies fail: ``copy_faults.py RESULT``; needs torch, not vLLM."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unittest.mock import patch

import torch
from checks import tell
from failing import KINDS, both_ways, failing, fresh
from small_banks import (
    CPU,
    GUARDED,
    MODES,
    ROWS,
    bytes_of,
    copying,
    picks,
    random_swap,
    small,
)

from expert_bank.swapping import Rows, plain_copy
from expert_bank.swaps import Swap
from expert_bank.table_layout import HOT

NAMES = list(ROWS)
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


CHECKS = (
    the_expert_stays_on_a_whole_row_and_is_named,
    a_failure_is_healed_by_later_swaps,
    faults_among_random_swaps_never_show,
    a_failed_copy_whose_check_fails_too_is_told_whole,
    a_copy_to_anothers_row_is_named_with_the_other,
    a_write_beyond_the_row_is_found,
    a_copy_that_comes_too_late_is_caught,
    a_table_switched_before_the_bytes_shows_in_the_first_forward,
)


if __name__ == "__main__":
    tell(CHECKS)
