"""What a boot leaves behind, and what that proves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from lanewright.serve.boot import Completion


@dataclass(frozen=True)
class Earlier:
    """What an engine had done before what a boot's evidence is of.

    Attributes:
        tokens: Computed, by the answers that it gave.
        banks: ``expert_bank_banks`` of each worker then; empty where it had done nothing.
    """

    tokens: int = 0
    banks: Sequence[Mapping[str, Any] | None] = ()

    def of(self, worker: int, name: str) -> int:
        """A number of a worker's banks then."""
        banks = self.banks[worker] if self.banks else None
        return int(banks[name]) if banks else 0


@dataclass(frozen=True)
class Evidence:
    """What one boot left behind.

    Attributes:
        status: ``expert_bank_status`` of each worker.
        usage: ``expert_bank_usage`` of each worker, after the last answer.
        banks: ``expert_bank_banks`` of each worker; None where all experts are resident.
        completions: Every answer that the boot gave; nothing else was asked, nothing preempted.
        earlier: What the engine had done before: ``tokens`` by its answers, and ``banks`` as then.
        moe: How many MoE layers each worker's model has, by vLLM's own modules, and their experts
            and picks per token; empty where only the workers' own word is to be had.
    """

    status: tuple[Mapping[str, Any], ...]
    usage: tuple[Mapping[str, Any] | None, ...]
    completions: tuple[Completion, ...]
    moe: tuple[Mapping[str, int], ...] = ()
    banks: tuple[Mapping[str, Any] | None, ...] = ()
    earlier: Earlier = Earlier()

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> Self:
        """Read what ``inside/arms.py`` wrote of one engine."""
        answers = [found["completions"], *found["together"].values()]
        return cls(
            status=tuple(found["status"]),
            usage=tuple(found["usage"]),
            completions=tuple(Completion.read(each) for one in answers for each in one),
            moe=tuple(found["moe"]),
            banks=tuple(found["banks"]),
            earlier=Earlier(**found.get("earlier", {})),
        )


@dataclass(frozen=True)
class Proof:
    """What is proven of one feature.

    Attributes:
        feature: The engine argument that switches it.
        on: Whether the lane switches it on; off is proven, too.
        facts: The numbers that were compared.
        text: The same for people.
    """

    feature: str
    on: bool
    facts: Mapping[str, int]
    text: str
