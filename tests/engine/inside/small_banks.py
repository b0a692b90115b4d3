"""Small two-banks of several row tensors, with guard bytes, and a forward that reads their rows."""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

import torch

from expert_bank.bank import LayerBank, RowTensor, placed
from expert_bank.cold_file import ColdFile
from expert_bank.counter import PickCounter
from expert_bank.file_allocation import FileAllocation, ReadAhead
from expert_bank.filling import fill
from expert_bank.host_memory import HostMemory
from expert_bank.plan import Mode, cold_rows
from expert_bank.poison import NAN, Poison
from expert_bank.row_sums import tensor_sums
from expert_bank.split import split
from expert_bank.staging.pool import StagedAllocation
from expert_bank.swapping import Rows, plain_copy
from expert_bank.swaps import Swap
from expert_bank.table import Table
from expert_bank.table_layout import COLD, HOT
from expert_bank.two_bank import TwoBank

CPU = torch.device("cpu")
K = 3
WIDTH = 6
MODES: tuple[Mode, ...] = ("mirror", "exclusive")
# Weights, packed ones, their scales, biases and one number an expert, of odd sizes.
ROWS: dict[str, tuple[torch.dtype, tuple[int, ...]]] = {
    "w13_weight": (torch.bfloat16, (4, WIDTH)),
    "w13_packed": (torch.uint8, (3, 5)),
    "w13_weight_scale": (torch.float8_e8m0fnu, (7,)),
    "w2_weight": (torch.float32, (WIDTH,)),
    "w2_bias": (torch.float16, (3,)),
    "w2_input_scale": (torch.float32, ()),
}
WEIGHT = list(ROWS).index("w2_weight")
GUARD, GUARDED = 64, 0xA5
# Gives so many bytes of a device's memory.
Room = Callable[[int], torch.Tensor]


@dataclass
class Small:
    """Two banks, and what was loaded into them.

    Attributes:
        two_bank: Under test.
        loaded: [E, ...] per row tensor of each layer.
        drained: How often the barrier waited for the device.
    """

    two_bank: TwoBank
    loaded: list[list[torch.Tensor]]
    guards: list[torch.Tensor]
    drained: list[int]

    @property
    def experts(self) -> int:
        """E."""
        return int(self.loaded[0][0].shape[0])

    def wrong(self) -> list[tuple[int, int, str]]:
        """List layer, expert and tensor of each row that a pick would be served wrongly from."""
        table, banks = self.two_bank.table, self.two_bank.swapper.banks
        return [
            (layer, expert, tensor.name)
            for layer, bank in enumerate(banks)
            for expert in range(self.experts)
            for tensor, row, loaded in zip(
                bank.tensors, bank.row(*table.where(layer, expert)), self.loaded[layer], strict=True
            )
            if not same(row, loaded[expert])
        ]

    def require_whole(self) -> None:
        """Every expert's row is as loaded, and nothing beside the rows was written to."""
        assert not self.wrong(), self.wrong()
        assert self.two_bank.table.agrees()
        assert not self.two_bank.audit()
        assert all(bool((guard == GUARDED).all()) for guard in self.guards)
        self.require_places()

    def require_places(self) -> None:
        """No two experts have a place, and rows without one are known to be free."""
        swapper, table = self.two_bank.swapper, self.two_bank.table
        for layer, bank in enumerate(swapper.banks):
            places = [table.where(layer, expert) for expert in range(self.experts)]
            assert len(set(places)) == self.experts
            hot = {row for side, row in places if side == 0}
            cold = {row for side, row in places if side == 1}
            assert sorted(swapper.free[layer]) == sorted(set(range(bank.hot)) - hot)
            if bank.mirrors:
                assert all(row == expert for expert, (side, row) in enumerate(places) if side)
            else:
                assert sorted(swapper.spare[layer]) == sorted(set(range(bank.cold)) - cold)
                unused = len(swapper.spare[layer]) + len(swapper.free[layer])
                assert unused == (0 < bank.hot < self.experts)
            flat = [side * bank.hot + row for side, row in places]
            assert table.device[layer][3].tolist() == flat

    def require_poisoned(self) -> None:
        """Every row that no entry points to is NaN, whole; every other is as loaded."""
        self.require_whole()
        table = self.two_bank.table
        for layer, bank in enumerate(self.two_bank.swapper.banks):
            used = {table.where(layer, expert) for expert in range(self.experts)}
            for side, rows in ((HOT, bank.hot), (COLD, bank.cold)):
                for row in range(rows):
                    if (side, row) not in used:
                        assert all(bytes_of(each).eq(NAN).all() for each in bank.row(side, row))

    def forward(self, ids: torch.Tensor, layer: int = 0) -> torch.Tensor:
        """Serve picks, int[T, K], as a kernel does: whole rows by place, summed by slot."""
        two_bank = self.two_bank
        two_bank.barrier.forward()
        with two_bank.counter.step(len(ids)):
            places = self.places(ids, layer)
        return self.served(places, layer)

    def places(self, ids: torch.Tensor, layer: int) -> torch.Tensor:
        """Split picks."""
        counter = self.two_bank.counter
        table = self.two_bank.table.device[layer]
        return split(counter.counts[layer], ids, counter.scheduled, table)

    def served(self, places: torch.Tensor, layer: int) -> torch.Tensor:
        """Read the rows at places."""
        rows = self.two_bank.swapper.banks[layer].tensors[WEIGHT]
        both = torch.cat([rows.hot, rows.cold]) if rows.whole is None else rows.whole
        return summed(both[places.long()])

    def resident(self, ids: torch.Tensor, layer: int = 0) -> torch.Tensor:
        """The same of a layer that has all experts' rows in one place."""
        return summed(self.loaded[layer][WEIGHT][ids.long()])


def summed(rows: torch.Tensor) -> torch.Tensor:
    """Multiply [T, K, WIDTH] rows with an input and sum by slot, in slot order."""
    x = torch.linspace(-1, 1, WIDTH)
    weights = torch.linspace(0.3, 0.9, K)
    total = torch.zeros(rows.shape[0])
    for slot in range(K):
        total = total + weights[slot] * (rows[:, slot] * x).sum(-1)
    return total


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether the bytes are equal."""
    return bool(bytes_of(one).equal(bytes_of(other)))


def bytes_of(row: torch.Tensor) -> torch.Tensor:
    """A contiguous tensor's bytes."""
    return row.reshape(-1).view(torch.uint8)


def small(
    hot: Sequence[int],
    mode: Mode,
    *,
    seed: int = 0,
    experts: int = 9,
    first: Sequence[Sequence[int]] | None = None,
    poison: bool = False,
    file: ColdFile | None = None,
    room: Room | None = None,
    stage: int = 0,
) -> Small:
    """Fill banks with random bytes that no float reads as NaN.

    Args:
        hot: H of each layer.
        mode: Of the cold bank.
        seed: Of the rows and of the map.
        experts: E.
        first: Hot experts of each layer; drawn where left out.
        poison: Whether unused rows are NaN.
        file: Has the cold rows, and then nothing guards them.
        room: Has the hot rows and the tables, and then nothing guards the former.
        stage: Rows of a staging buffer behind the banks, and then nothing guards these.
    """
    source, draw = torch.Generator().manual_seed(seed), random.Random(seed)  # noqa: S311 - no secret
    table = Table(hot, experts, CPU)
    if room is not None:
        table.device = tuple(
            room(each.nbytes).view(each.dtype).view(each.shape) for each in table.device
        )
    banks, sums, loaded, guards = [], [], [], []
    staged, memory = StagedAllocation(stage) if stage else None, HostMemory()
    for layer, rows in enumerate(hot):
        repacked = [drawn(source, (experts, *shape), dtype) for dtype, shape in ROWS.values()]
        cold = cold_rows(experts, rows, mode)
        around: list[torch.Tensor] = []
        ahead = None
        if staged is not None:
            tensors = staged(ROWS, rows, cold, memory)
        elif file is None:
            tensors, around = guarded(rows, cold, room)
        else:
            tensors = FileAllocation(file)(ROWS, rows, cold, HostMemory())
            ahead = ReadAhead(file, tensors)
        bank = LayerBank(f"layers.{layer}.experts", experts, mode, tensors, ahead)
        chosen = draw.sample(range(experts), rows) if first is None else first[layer]
        where = placed(chosen, experts, mode)
        table.fill(layer, *where)
        fill(bank, repacked, list(zip(*where, strict=True)))
        banks.append(bank)
        sums.append(tensor_sums(repacked))
        loaded.append(repacked)
        guards += around
    names = [bank.name for bank in banks]
    counter = PickCounter(names, experts=experts, picks_per_token=K, device=CPU, banks=2)
    drained: list[int] = []
    two_bank = TwoBank(banks, table, counter, sums, lambda: drained.append(1))
    if file is not None:
        two_bank.file = file
        file.prove()
    if poison:
        Poison(two_bank.swapper)
    return Small(two_bank, loaded, guards, drained)


def drawn(source: torch.Generator, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """Draw bytes; 0xFF and 0x7F, which make a NaN of any float, are none of them."""
    found = torch.randint(1, 0x70, (prod(shape) * dtype.itemsize,), generator=source)
    return found.to(torch.uint8).view(dtype).view(tuple(shape))


def guarded(
    hot: int, cold: int, room: Room | None = None
) -> tuple[tuple[RowTensor, ...], list[torch.Tensor]]:
    """Allocate a hot and a cold bank apart, with guard bytes around each that has no room elsewhere."""
    tensors, guards = [], []
    for name, (dtype, shape) in ROWS.items():
        sides: list[torch.Tensor] = []
        for rows in (hot, cold):
            size = rows * prod(shape) * dtype.itemsize
            if room is not None and not sides:
                sides.append(room(size).view(dtype).view(rows, *shape))
                continue
            memory = torch.full((2 * GUARD + size,), GUARDED, dtype=torch.uint8)
            sides.append(memory[GUARD : GUARD + size].view(dtype).view(rows, *shape))
            guards += [memory[:GUARD], memory[GUARD + size :]]
        tensors.append(RowTensor(name, sides[0], sides[1], None))
    return tuple(tensors), guards


def picks(seed: int, tokens: int, experts: int = 9) -> torch.Tensor:
    """Draw int32[tokens, K] of different experts a token."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    return torch.tensor([draw.sample(range(experts), K) for _ in range(tokens)], dtype=torch.int32)


def random_swap(draw: random.Random, made: Small) -> Swap | None:
    """Draw a swap that the table allows and that there is room for; None where there is none."""
    swapper, table = made.two_bank.swapper, made.two_bank.table
    layer = draw.randrange(len(swapper.banks))
    hot = table.is_hot()[layer]
    cold, warm = (~hot).nonzero()[0].tolist(), hot.nonzero()[0].tolist()
    bank = swapper.banks[layer]
    kinds = [(True, True)] if cold and warm else []
    if cold and swapper.free[layer]:
        kinds.append((True, False))
    if warm and (bank.mirrors or swapper.spare[layer]):
        kinds.append((False, True))
    if not kinds:
        return None
    promotes, demotes = draw.choice(kinds)
    promoted = draw.choice(cold) if promotes else None
    return Swap(layer, promoted, draw.choice(warm) if demotes else None)


@contextmanager
def copying(made: Small, copy: Callable[[Rows, Rows], None]) -> Iterator[None]:
    """Copy rows in another way for a while."""
    swapper = made.two_bank.swapper
    swapper.copy = copy
    try:
        yield
    finally:
        swapper.copy = plain_copy


def raised(error: type[Exception], act: Callable[[], object]) -> str:
    """What an act raised, in words; fails where it raised nothing."""
    try:
        act()
    except error as told:
        return str(told)
    raise AssertionError(f"no {error.__name__}")
