"""What checks of failing swaps share: swaps, banks to make them in, and what raises."""

from collections.abc import Container, Iterator

from small_banks import Small, small

from expert_bank.plan import Mode
from expert_bank.swaps import Swap

KINDS = (RuntimeError, ValueError, OSError)


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
