"""Checks of the adapters at the two banks' seams: ``seams.py RESULT``, in a tree with stand-ins.

RESULT becomes a JSON object: by the name of each check, null or why it failed.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from checks import tell

from expert_bank.allocation import one_allocation
from expert_bank.glue.seams import choice, pr56177, pr57943
from expert_bank.probe import host_reader
from expert_bank.refused import Refused
from expert_bank.seams import Chosen, Used
from expert_bank.swapping import CopyError
from expert_bank.table import Table
from expert_bank.table_layout import COLD, HOT, ROW

CPU = torch.device("cpu")
EXPERTS = 12
HOT_ROWS = (5, 1, 11)
LAYERS = range(len(HOT_ROWS))
DTYPES = (torch.bfloat16, torch.float32, torch.uint8, torch.float8_e4m3fn)


@contextmanager
def refused(*told: str) -> Iterator[None]:
    """See that the block is refused, with all of these in the message."""
    said = None
    try:
        yield
    except (Refused, CopyError) as error:
        said = str(error)
    assert said is not None, "nothing was refused"
    assert all(each in said for each in told), said


def table() -> tuple[Any, Used]:
    """Make a table of the pool's, and what counts its entries."""
    used = Used("RowTable", "96177")
    made: Any = pr56177.row_table(used)(HOT_ROWS, EXPERTS, CPU, "mirror")
    return made, used


def the_pools_table_gives_what_ours_does() -> None:
    """After every change, on the device and on the host; its own check holds between swaps, too."""
    theirs, used = table()
    ours = Table(HOT_ROWS, EXPERTS, CPU)
    addresses = [each.data_ptr() for each in theirs.device]
    rng = random.Random(7)  # noqa: S311 - no secret
    for layer, hot in enumerate(HOT_ROWS):
        order = rng.sample(range(EXPERTS), EXPERTS)
        banks, rows = [COLD] * EXPERTS, list(range(EXPERTS))
        for row, expert in enumerate(order[: rng.randint(0, hot)]):
            banks[expert], rows[expert] = HOT, row
        for each in (ours, theirs):
            each.fill(layer, banks, rows)
    assert used.calls >= len(HOT_ROWS)
    for _ in range(300):
        before = used.calls
        change(ours, theirs, rng)
        assert used.calls > before
        assert ours.agrees()
        assert theirs.agrees()
        assert np.array_equal(ours.host, theirs.host)
        assert all(map(torch.equal, ours.device, theirs.device))
    assert addresses == [each.data_ptr() for each in theirs.device]
    assert int(theirs.pool.gate) == 0


def change(ours: Table, theirs: Table, rng: random.Random) -> None:
    """Make an expert cold that is hot, or hot that is cold, in both tables."""
    layer, expert = rng.choice(LAYERS), rng.randrange(EXPERTS)
    bank, _ = ours.where(layer, expert)
    taken = [ours.where(layer, each) for each in range(EXPERTS)]
    free = [row for row in range(HOT_ROWS[layer]) if (HOT, row) not in taken]
    if bank == COLD and not free:
        expert = next(each for each, (where, _) in enumerate(taken) if where == HOT)
        bank = HOT
    target = (COLD, expert) if bank == HOT else (HOT, rng.choice(free))
    for each in (ours, theirs):
        each.point(layer, expert, *target)


def what_forwards_read_comes_out_of_the_pool() -> None:
    """A pool that reads otherwise than it was written is what the device gets, and is found."""
    theirs, _ = table()
    for layer in LAYERS:
        theirs.fill(layer, [COLD] * EXPERTS, list(range(EXPERTS)))
    theirs.point(0, 3, HOT, 2)
    assert theirs.agrees()
    view, calls = theirs._view, []  # noqa: SLF001 - stands where theirs would be wrong

    def wrong(*given: Any) -> Any:  # noqa: ANN401 - theirs
        """Take what is written, hot and cold; then give it the other way round."""
        calls.append(given)
        found = view(*given)
        return found if len(calls) <= len(("hot", "cold")) else found.flip(0)

    with patch.object(theirs, "_view", wrong):
        theirs.point(0, 4, HOT, 1)
    assert theirs._check(theirs.pool) is None  # noqa: SLF001 - what was written is whole
    assert not theirs.agrees()
    assert theirs.device[0][ROW].tolist() != theirs.host[0, ROW].tolist()
    theirs.write_layer(0)
    assert theirs.agrees()
    theirs.pool.row_key[0] = 7
    assert not theirs.agrees()


def a_pool_that_raises_is_taken_back() -> None:
    """At each look at its rows in a write, once or for a while; forwards read what they read before."""
    for lasts in (1, 100):
        for number in range(len(("hot", "cold")) * len(("written", "read"))):
            theirs, _ = table()
            for layer in LAYERS:
                theirs.fill(layer, [COLD] * EXPERTS, list(range(EXPERTS)))
            theirs.point(0, 3, HOT, 2)
            before, view = theirs.device[0].clone(), theirs._view  # noqa: SLF001 - the same

            calls: list[Any] = []

            def odd(
                *given: Any,  # noqa: ANN401 - theirs
                view: Any = view,  # noqa: ANN401 - theirs
                calls: list[Any] = calls,
                odd: range = range(number, number + lasts),
            ) -> Any:  # noqa: ANN401 - theirs
                calls.append(given)
                if len(calls) - 1 in odd:
                    raise ValueError("an odd pool")
                return view(*given)

            with patch.object(theirs, "_view", odd):
                told = ""
                try:
                    theirs.point(0, 4, HOT, 1)
                except ValueError as error:
                    told = str(error)
            assert told == "an odd pool"
            assert theirs.device[0].equal(before)
            assert theirs.where(0, 4) == (COLD, 4)
            assert theirs.torn[0] == ({4} if lasts > 1 else set())
            theirs.mend(0)
            assert not theirs.torn[0]
            assert theirs.agrees()
            assert theirs.device[0].equal(before)


def what_the_pools_table_cannot_hold_is_refused() -> None:
    """Exclusive cold rows; a layer with no hot rows, or with nothing else."""
    make = pr56177.row_table(Used("RowTable", "96177"))
    with refused("RowTable from #96177", "moe_cold_rows exclusive", "use moe_cold_rows mirror"):
        make(HOT_ROWS, EXPERTS, CPU, "exclusive")
    for hot in ((5, 0), (12, 5)):
        with refused("RowTable from #96177", f"moe_hot_experts {sorted(hot)} of 12"):
            make(hot, EXPERTS, CPU, "mirror")


def copies_are_whole_for_any_number_of_tensors() -> None:
    """More and fewer than they copy together, scalars too; nothing else is written."""
    used = Used("RowCopy", "96177")
    copy = pr56177.row_copy(used)
    for count in (1, 2, 5, 6, 7, 12, 13):
        shapes = [(3, 4 * (n % 3 + 1)) if n % 4 else (4,) for n in range(count)]
        made = [
            torch.randint(0, 120, (4, *shape)).to(DTYPES[n % len(DTYPES)])
            for n, shape in enumerate(shapes)
        ]
        kept = [each.clone() for each in made]
        before = used.calls
        copy([each[2] for each in made], [each[1] for each in made])
        assert used.calls - before == -(-count // 6)
        for now, then in zip(made, kept, strict=True):
            then[2] = then[1]
            assert torch.equal(now.view(torch.uint8), then.view(torch.uint8))


def rows_that_are_no_words_are_refused() -> None:
    """Theirs copies by words, and would leave the end of such a row."""
    copy = pr56177.row_copy(Used("RowCopy", "96177"))
    rows = torch.zeros(4, 3, dtype=torch.bfloat16)
    with refused("a row of 6 bytes is no whole number of words"):
        copy([rows[0]], [rows[1]])


def host_rows_are_our_mapping() -> None:
    """What the device reads is the memory that is measured and proven."""
    used = Used("HostRows", "97943")
    memory = pr57943.host_rows(used)(CPU, None)
    shapes = {"w": (torch.bfloat16, (3, 4)), "s": (torch.float32, (5,))}
    tensors = one_allocation(shapes, 2, 4, memory)
    assert used.calls == len(shapes)
    (pages,) = memory.mappings
    for each in tensors:
        assert each.whole is not None
        assert pages.address <= each.whole.data_ptr() < pages.address + pages.size
        each.whole.fill_(1)
    assert memory.prove(host_reader(1 << 20), floor=None)


def a_bank_that_copies_or_refuses_is_refused() -> None:
    """Torch's pinned memory is of another size; on a CPU #57943 itself raises."""
    from vllm.model_executor.layers.fused_moe.uva_bank import HostBank  # noqa: PLC0415 - stand-in

    def copies(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.clone()

    def raises(tensor: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(tensor, pin_memory=True)

    for pin, told in (
        (copies, "HostBank.pin copied 24 B that were mapped for it"),
        (raises, "HostBank does not take rows in host memory here: "),
    ):
        with patch.object(HostBank, "pin", staticmethod(pin)):
            memory = pr57943.host_rows(Used("HostRows", "97943"))(CPU, None)
            with refused("HostRows from #97943", told):
                memory.rows(memory.map(24), torch.uint8, (4, 6), 0)


def the_lanes_choice_is_looked_up() -> None:
    """By the tree's own file, by what is given, and refused by name where there is no adapter."""
    whole = choice.choice()
    assert {each.seam: each.source for each in whole.used} == {
        "RowTable": "96177",
        "RowCopy": "96177",
        "HostRows": "97943",
    }
    assert whole.line() == "RowTable from #96177, RowCopy from #96177, HostRows from #97943"
    own = choice.choice({})
    assert own.line() == "RowTable own, RowCopy own, HostRows own"
    assert type(own.row_table(HOT_ROWS, EXPERTS, CPU, "exclusive")) is Table
    with refused("RowCopy from #7: there is no adapter expert_bank.glue.seams.pr7", "patches/7/"):
        choice.choice({"RowCopy": Chosen("7", "7")})
    with refused("HostRows from #96177: ", "pr56177 serves no HostRows"):
        choice.choice({"HostRows": Chosen("96177", "56177")})


def our_own_code_counts_what_it_serves() -> None:
    """Each change of an entry, each copy, each look at rows."""
    own = choice.choice({})
    rows = own.row_table(HOT_ROWS, EXPERTS, CPU, "mirror")
    rows.fill(0, [COLD] * EXPERTS, list(range(EXPERTS)))
    rows.point(0, 3, HOT, 2)
    own.row_copy([torch.zeros(3)], [torch.ones(3)])
    memory = own.host_rows(CPU, None)
    one_allocation({"w": (torch.float32, (4,))}, 1, 1, memory)
    assert [each.calls for each in own.used] == [2, 1, 1]


if __name__ == "__main__":
    tell(
        [
            the_pools_table_gives_what_ours_does,
            what_forwards_read_comes_out_of_the_pool,
            a_pool_that_raises_is_taken_back,
            what_the_pools_table_cannot_hold_is_refused,
            copies_are_whole_for_any_number_of_tensors,
            rows_that_are_no_words_are_refused,
            host_rows_are_our_mapping,
            a_bank_that_copies_or_refuses_is_refused,
            the_lanes_choice_is_looked_up,
            our_own_code_counts_what_it_serves,
        ]
    )
