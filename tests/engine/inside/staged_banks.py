"""Small two-banks whose steps are staged, and sides that copy as they like."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from small_banks import Small, picks, same, small

from expert_bank.plan import Mode
from expert_bank.staging.copies import Copies
from expert_bank.staging.making import stage
from expert_bank.staging.room import stage_room
from expert_bank.staging.side_thread import Side
from expert_bank.staging.staging import Staging

EXPERTS, MANY = 9, 10_000


@dataclass
class Done:
    """Copies that are there already, whatever they say."""

    bytes: int

    def wait(self) -> int:
        return self.bytes


class Odd:
    """A side that copies as it likes; what it says is what was asked for unless told."""

    def __init__(self, copy: Callable[[Copies], object], *, less: int = 0) -> None:
        self.copy, self.less = copy, less

    def begin(self, copies: Copies) -> Done:
        self.copy(copies)
        return Done(copies.bytes - self.less)


def staged(
    hot: Sequence[int],
    mode: Mode,
    rows: int | None = None,
    *,
    seed: int = 0,
    side: Side | None = None,
) -> tuple[Small, Staging]:
    """Banks with a buffer of so many rows, two layers' unless told, poisoned behind each step."""
    cold = [EXPERTS - each for each in hot]
    room = stage_room("2", cold=cold, row_bytes=[1] * len(cold))
    held = room.rows if rows is None else rows
    made = small(hot, mode, seed=seed, experts=EXPERTS, poison=True, stage=held)
    sizes = [bank.row_bytes for bank in made.two_bank.swapper.banks]
    room = type(room)(held, sizes[0], tuple(cold))
    stage(made.two_bank, room, poison=True, side=side)
    return made, staging_of(made)


def step(made: Small, order: Sequence[int], seed: int, *, prefill: bool = True) -> int:
    """Run layers of a step over many tokens; how many bytes were staged in it."""
    staging = staging_of(made)
    before = staging.done.bytes
    made.two_bank.barrier.forward()
    with made.two_bank.step(MANY, prefill=prefill), made.two_bank.counter.step(30):
        for layer in order:
            ids = picks(seed + layer, 30)
            served = made.served(made.places(ids, layer), layer)
            assert same(served, made.resident(ids, layer)), (seed, layer)
    return staging.done.bytes - before


def wanted(made: Small) -> int:
    """Bytes of each layer's cold experts, once."""
    hot = made.two_bank.table.is_hot()
    banks = made.two_bank.swapper.banks
    return sum(int((~is_hot).sum()) * b.row_bytes for is_hot, b in zip(hot, banks, strict=True))


def interrupted() -> None:
    """End early."""
    raise KeyboardInterrupt


def staging_of(made: Small) -> Staging:
    """What stages."""
    found = made.two_bank.staging
    assert found is not None
    return found


def hot_of(made: Small, layer: int) -> int:
    """The first hot expert of a layer."""
    return int(made.two_bank.table.is_hot()[layer].argmax())
