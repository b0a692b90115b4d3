"""Time decode steps with the two-bank on and off: ``toggle_banks.py SPEC``, see ``toggling``.

Off means what a lane with all experts resident has: the layers' class is vLLM's own, the worker
passes its steps on, and the kernel reads rows ``[E, ...]`` in the order of the experts by the ids
that the router gives. Those rows are a second copy, in memory of the same kind. Without it, off
would need ids that somebody else has mapped already, or a map under which every id is its own
place; the one would leave a part of the cost out of sight, and the other there is for no mirror,
nor for the number of rows that the kernel walks over.
"""

import sys
from collections.abc import Callable
from typing import Any

import toggling

SEED = 20261130
PAIRS = 1


class Switch:
    """Turns the two banks of a worker on and off."""

    def __init__(self, worker: Any) -> None:  # noqa: ANN401 - vLLM's
        from expert_bank.allocation import one_allocation  # noqa: PLC0415 - imports torch
        from expert_bank.glue.banked import BankedExperts  # noqa: PLC0415 - imports vLLM
        from expert_bank.host_memory import HostMemory  # noqa: PLC0415 - the same
        from expert_bank.table_layout import PLACE  # noqa: PLC0415 - the same

        self.worker = worker
        self.counter, self.two_bank = worker.pick_counter, worker.two_bank
        modules = worker.model_runner.get_model().modules()
        self.layers = [each for each in modules if isinstance(each, BankedExperts)]
        self.banked, (self.plain, *_) = BankedExperts, BankedExperts.__bases__
        self.rows = []
        memory, two_bank = HostMemory(), self.two_bank
        for layer, bank, table in zip(
            self.layers, two_bank.swapper.banks, two_bank.table.device, strict=True
        ):
            shapes = {each.name: (each.whole.dtype, each.whole.shape[1:]) for each in bank.tensors}
            resident = one_allocation(shapes, bank.experts, 0, memory)
            for ours, theirs in zip(resident, bank.tensors, strict=True):
                ours.hot.copy_(theirs.whole[table[PLACE].long()])
                self.rows.append((getattr(layer, ours.name), theirs.whole, ours.hot))

    def turn(self, *, on: bool) -> None:
        """Give the layers our class and the banks, or vLLM's and the rows in logical order."""
        self.worker.pick_counter = self.counter if on else None
        self.worker.two_bank = self.two_bank if on else None
        for layer in self.layers:
            layer.__class__ = self.banked if on else self.plain
        for parameter, both, resident in self.rows:
            parameter.data = both if on else resident

    def told(self, decode: Callable[[], toggling.Answers]) -> dict[str, Any]:
        """Tell the picks, and what swaps before every step of one more generation took."""
        from expert_bank.forced import Forced  # noqa: PLC0415 - imports numpy

        static = self.picks()
        barrier, totals = self.two_bank.barrier, self.two_bank.barrier.totals
        if totals.swaps:
            raise RuntimeError(f"{totals.swaps} rows were swapped while steps were timed")
        kept = decode()
        barrier.source = Forced(every=1, pairs_per_layer=PAIRS, seed=SEED)
        swapped = decode()
        barrier.source = None
        if wrong := [*self.two_bank.audit(), *barrier.failures]:
            raise RuntimeError("; ".join(wrong))
        if kept != swapped:
            raise RuntimeError("answers hang on where the rows are")
        told = self.two_bank.told()
        return {
            "layers": len(self.layers),
            **static,
            "experts": self.two_bank.swapper.banks[0].experts,
            "hot_rows": told["hot_rows"],
            "row_bytes": told["row_bytes"][0],
            "swapped": {name: told[name] for name in ("barriers", "swaps", "bytes", "seconds")},
        }

    def picks(self) -> dict[str, int]:
        """What was counted, and of it what the cold banks served."""
        counter = self.counter
        by_bank = counter.by_bank().sum(axis=(0, 2))
        expected = counter.tokens * counter.picks_per_token * len(counter.layers)
        if by_bank.sum() != expected or not by_bank.all():
            raise RuntimeError(f"{by_bank} picks, and {expected} in the steps that were on")
        return {"picks": int(by_bank.sum()), "cold_picks": int(by_bank[1])}


if __name__ == "__main__":
    toggling.main(Switch, *sys.argv[1:])
