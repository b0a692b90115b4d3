"""The engines that are compared: the unpatched pin's and the lane's, in each mode."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from lanewright.project import Device
from lanewright.serve.boot import engine_arguments
from lanewright.serve.engines import Arm
from lanewright.serve.environment import LaneEnv
from lanewright.serve.equality.asked import Asked, Mode
from lanewright.serve.equality.budget import Budget
from lanewright.serve.features import BANKS, STAGE, carries_bank, switched_on, without_features

Calls: TypeAlias = tuple[tuple[str, tuple[Any, ...]], ...]
# Before every fourth forward, two swaps in each layer.
FORCED = ("expert_bank_force", (4, 2, 20261130))
# A map that follows every whim of the traffic swaps much: no hysteresis, no memory, no guard.
FOLLOWED = (
    "expert_bank_follow",
    (
        {
            "every": 4,
            "half_life": 32,
            "tokens_per_swap": 0,
            "ratio": 1,
            "margin": 0,
            "noise": 0,
            "residence": 0,
            "window": 2**40,
        },
    ),
)


# Every prompt, however short; what pays is a matter of speed alone.
STAGED = ("expert_bank_stage", (True, 1))

# What was forced ends, and the map stays as it is.
STILL: Calls = (("expert_bank_force", (0, 0, 0)), ("expert_bank_follow", (None,)))


@dataclass(frozen=True)
class LaneArm:
    """One engine of the lane.

    Attributes:
        arm: What is booted and asked; ``<mode>.<name>``.
        engine: Arguments that say which features are on.
        swaps: Whether rows must have been swapped in it.
    """

    arm: Arm
    engine: Mapping[str, object]
    swaps: bool = False


def pin_arms(budget: Budget, engine: Mapping[str, object], asked: Asked) -> list[Arm]:
    """Baseline and self control, which also answers with exchanged rows, of every mode."""
    plain = {**without_features(engine), **asked.baseline}
    return [
        replace(
            _arm(f"{mode}.{name}", {**plain, **_settings(mode)}, asked),
            exchange=name == "self",
            continues=budget.shared and name == "self",
        )
        for mode in budget.modes
        for name in ("baseline", "self")
    ]


def lane_arms(
    budget: Budget,
    engine: Mapping[str, object],
    lane: LaneEnv,
    device: Device,
    asked: Asked,
    folder: Path,
) -> list[LaneArm]:
    """The lane with its features off, and on where it switches any on, in every mode.

    With two banks there are three more: one whose rows are swapped at random all along, one whose
    map follows traffic, and one that starts from another map, by what the first one's picks were. Where
    cold rows can be staged, all of these stage those of every prompt. One engine gives all of these
    answers where the budget says so.
    """
    staged: Calls = (STAGED,) if engine.get(BANKS) and engine.get(STAGE) else ()

    def arm(mode: Mode, name: str, wanted: Mapping[str, object], swaps: Calls = ()) -> LaneArm:
        whole = engine_arguments(lane, {**wanted, **_settings(mode)}, device)
        made = replace(_arm(f"{mode}.{name}", whole, asked), workers=carries_bank(lane))
        calls = swaps if name == "off" else (*staged, *swaps)
        return LaneArm(replace(made, calls=calls), wanted, FORCED in swaps or FOLLOWED in swaps)

    def of(mode: Mode) -> Iterator[LaneArm]:
        if budget.off:
            yield arm(mode, "off", {**without_features(engine), **asked.baseline})
        if not switched_on(engine):
            return
        on = arm(mode, "on", engine)
        if not engine.get(BANKS):
            yield on
            return
        usage = str(folder / f"{mode}.usage.json")
        yield replace(on, arm=replace(on.arm, keeps=usage))
        # While swaps are forced, a map that follows waits.
        still = {name: value for name, value in engine.items() if name != "moe_follow"}
        if not budget.shared:
            yield arm(mode, "swaps", still, (FORCED,))
            yield arm(mode, "follows", engine, (FOLLOWED,))
            yield arm(mode, "mapped", {**engine, "moe_boot_map": usage})
            return
        for later in (
            arm(mode, "swaps", still, (*STILL, FORCED)),
            arm(mode, "follows", engine, (*STILL, FOLLOWED)),
            arm(mode, "mapped", still, STILL),
        ):
            maps = usage if later.arm.name == f"{mode}.mapped" else None
            yield replace(later, arm=replace(later.arm, continues=True, maps=maps))

    return [each for mode in budget.modes for each in of(mode)]


def _settings(mode: Mode) -> dict[str, object]:
    """From an empty cache: what was cached may change the last bits."""
    return {"enforce_eager": mode == "eager", "enable_prefix_caching": False}


def _arm(name: str, engine: Mapping[str, object], asked: Asked) -> Arm:
    return Arm(
        name=name,
        engine=engine,
        prompts=asked.texts[: asked.prompts],
        max_tokens=asked.tokens,
        exact=True,
        together=asked.together,
    )
