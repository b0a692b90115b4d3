"""Banks in memory that really goes, and host memory to keep of it what would be lost."""

import random
from dataclasses import dataclass

import torch
from mapped_pool import MappedPool
from small_banks import Small, random_swap, small

from expert_bank.asleep import Asleep
from expert_bank.host_budget import HostBudget
from expert_bank.pages import HostPages
from expert_bank.plan import Mode
from expert_bank.ranges import Range
from expert_bank.registration import Registration
from expert_bank.table_layout import HOT

PLENTY = 2**40
# What vLLM backs up itself: of a mirror's it is told to discard all weights.
BACKED_UP = {"mirror": ("runtime",), "exclusive": ("weights", "runtime")}


@dataclass
class Bed:
    """Banks in a pool, and what host memory there is.

    Attributes:
        made: The banks.
        pool: Has their hot rows and tables, other weights, and what is none.
        pages: Host memory that was mapped.
        known: Of it, what the device knows.
        left: Bytes that host memory has left.
        reusable: Bytes of an earlier backup that vLLM takes again.
        poisoned: Whether rows that no entry points to are NaN.
        refuses: Whether the device takes no host memory.
    """

    made: Small
    pool: MappedPool
    pages: list[HostPages]
    known: dict[int, int]
    left: int = PLENTY
    reusable: int = 0
    poisoned: bool = False
    refuses: bool = False

    def fall(self) -> Asleep:
        """Keep what would be lost."""
        return Asleep(
            self.made.two_bank,
            self.pool,
            budget=lambda: HostBudget((("the machine", (("MemAvailable", self.left),)),)),
            memory=self.map,
            pin=self.pin,
            reusable=self.reusable,
        )

    def map(self, length: int) -> HostPages:
        """Map host memory."""
        self.pages.append(HostPages(length))
        return self.pages[-1]

    def pin(self, pages: HostPages) -> Registration:
        """Make it known."""

        def register(address: int, length: int) -> int:
            self.known[address] = length
            return int(self.refuses)

        return Registration(
            pages, register=register, unregister=lambda at: int(not self.known.pop(at, 0))
        )

    def require_nothing_kept(self) -> None:
        """Host memory is given back, and the barrier is open."""
        assert all(each.closed for each in self.pages)
        assert not self.known
        assert not self.made.two_bank.barrier.closed

    def spoil(self, layer: int, expert: int) -> None:
        """Change a bit of an expert's mirror row, or change it back."""
        rows = self.made.two_bank.swapper.banks[layer].tensors[0].cold
        rows[expert].view(torch.uint8).view(-1)[3] ^= 4


def bed(hot: list[int], mode: Mode, seed: int = 0, *, poison: bool = False) -> Bed:
    """Lay banks and others into a pool."""
    pool = MappedPool(seed)
    pool.room(5000)
    pool.room(300, "kv_cache")
    made = small(hot, mode, seed=seed, poison=poison, room=pool.room)
    pool.room(20, "runtime")
    pool.room(9000)
    return Bed(made, pool, [], {}, poisoned=poison)


def swap(of: Bed, draw: random.Random, count: int) -> None:
    """Swap at random at the barrier."""
    for _ in range(count):
        if found := random_swap(draw, of.made):
            of.made.two_bank.barrier.swap([found])


def whole(of: Bed) -> None:
    """Every row, table, place and guard, by the banks' own checks."""
    if of.poisoned:
        of.made.require_poisoned()
    else:
        of.made.require_whole()


def unused(of: Bed) -> list[Range]:
    """Where hot rows of a mirror are that no entry points to."""
    swapper = of.made.two_bank.swapper
    return [
        Range(each.data_ptr(), each.data_ptr() + each.nbytes)
        for bank, free in zip(swapper.banks, swapper.free, strict=True)
        for row in (free if bank.mirrors else ())
        for each in bank.row(HOT, row)
    ]


def same_but(before: list[torch.Tensor], of: Bed, but: list[Range]) -> bool:
    """Whether every byte of the weights is as before, but for some."""
    places = [each.place for each in of.pool.held if each.tag == "weights"]
    for was, now, place in zip(before, of.pool.seen(), places, strict=True):
        differs = (was != now).nonzero().view(-1).tolist()
        for at in differs:
            if not any(each.start <= place.start + at < each.end for each in but):
                return False
    return True
