"""``[boot]`` and ``[equality]`` of a series: what its boots stand on, and how much is compared."""

from typing import Annotated, Any, Literal

import msgspec

Count = Annotated[int, msgspec.Meta(ge=1)]
Share = Annotated[float, msgspec.Meta(gt=0, lt=1)]
# What a GB300 was seen to differ from itself by, serving the same twice.
DRIFT = 0.03


class BootSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """``[boot]``: what the machines lack that the lane is tried on.

    Attributes:
        shims: Names of what stands in for it, in the lane's engines and its pin's alike.
    """

    shims: list[str] = []


class EqualitySpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """``[equality]``: how much is compared where the default would take too long.

    Attributes:
        prompts: How many are asked, from the first on.
        tokens: Length of every answer.
        distinct: How many different tokens the baseline's answers must hold.
        modes: Of the engine.
        together: How many prompts are asked at once, in runs of their own.
        baseline: Engine arguments where every feature of ours is off, the unpatched pin's among
            them: what makes a model fit that the features make fit otherwise.
        drift: How far an arm's throughput may be from the baseline's before that counts, however
            little the baseline differs from itself; a share, so that 0.03 is 3 % either way.
        bisect_on: A CPU lane in which a night looks for what this lane's hardware answers
            otherwise, so that it boots no oftener than it must.
    """

    prompts: Count | None = None
    tokens: Count | None = None
    distinct: Count | None = None
    modes: list[Literal["eager", "compiled"]] | None = None
    together: list[Count] | None = None
    baseline: dict[str, Any] | None = None
    drift: Share | None = None
    bisect_on: str | None = None
