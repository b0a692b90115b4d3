"""Checks of a self-check whose layer raises: ``self_check_faults.py RESULT``; needs torch alone."""

from collections.abc import Callable
from functools import partial

import torch
from checks import tell
from small_banks import MODES, Small, raised, small

from expert_bank.self_check import map_variant


class Boom(Exception):  # noqa: N818 - a double's
    """What a layer raises here."""


def run_of(
    banks: Small, failing: int, act: Callable[[], object] = int
) -> Callable[..., torch.Tensor]:
    """Run a layer as served; the call of this number acts and raises."""
    calls = []

    def run(layer: int, experts: list[int]) -> torch.Tensor:
        calls.append(layer)
        if len(calls) == failing:
            act()
            raise Boom(f"call {failing}")
        ids = torch.tensor([[experts[0], experts[-1], 7]], dtype=torch.int32)
        return banks.served(banks.places(ids, layer), layer)

    return run


def made(mode: str, hot: list[int]) -> Small:
    """A layer of eight experts."""
    return small([len(hot) or 4], mode, experts=8, first=[hot])  # type: ignore[arg-type]


def a_layer_that_raises_leaves_the_experts_where_they_were() -> None:
    """At whichever call, in both modes; and where none is hot yet."""
    for mode in MODES:
        for hot in ([0, 1, 2, 3], [])[: 1 + (mode == "mirror")]:
            for failing in (1, 2, 3):
                banks = made(mode, hot)
                before = banks.two_bank.table.is_hot()[0].tolist()
                told = raised(Boom, partial(map_variant, banks.two_bank, run_of(banks, failing), 0))
                assert told == f"call {failing}", told
                assert banks.two_bank.table.is_hot()[0].tolist() == before, (mode, hot, failing)
                banks.require_whole()


def what_cannot_be_swapped_back_is_noted_and_the_first_error_is_raised() -> None:
    """A copy that raises, and a device that cannot be waited for."""

    def broken(*_: object) -> None:
        raise RuntimeError("lost")

    for where, what in (("swapper", "copy"), ("barrier", "drain")):
        banks = made("mirror", [0, 1, 2, 3])
        breaks = partial(setattr, getattr(banks.two_bank, where), what, broken)
        try:
            map_variant(banks.two_bank, run_of(banks, 2, breaks), 0)
        except Boom as error:
            (note,) = error.__notes__
            assert note.startswith("layers.0.experts, experts 0 and 4 stay swapped: "), note
            assert "lost" in note, note
        else:
            raise AssertionError("nothing was raised")


CHECKS = (
    a_layer_that_raises_leaves_the_experts_where_they_were,
    what_cannot_be_swapped_back_is_noted_and_the_first_error_is_raised,
)

if __name__ == "__main__":
    tell(CHECKS)
