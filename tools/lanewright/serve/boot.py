"""What both ways of booting a lane share: the prompts, the engine's arguments and the proof."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lanewright.errors import LanewrightError, MismatchError
from lanewright.serve.environment import LaneEnv

PROMPTS = (
    "The lane is open and the first token",
    "def barrier(rows):",
    "Experts 3, 7 and 11 answer; 13 waits.",
    "Größe ändert nichts, naïve café",
)
MAX_TOKENS = 16
EXTENSION = "expert_bank.glue.extension.WorkerExtension"
# Set by the boot itself, from its own arguments.
OWN_ARGUMENTS = frozenset({"host", "model", "port", "served_model_name"})


@dataclass(frozen=True)
class Completion:
    """One greedy answer.

    Attributes:
        prompt: Text that was asked.
        ids: Token ids of the answer.
        text: The same, decoded.
    """

    prompt: str
    ids: tuple[int, ...]
    text: str


def engine_arguments(env: LaneEnv, engine: Mapping[str, object]) -> dict[str, object]:
    """Add the worker extension to a lane's engine arguments where its tree holds one.

    Raises:
        LanewrightError: The lane sets an argument that the boot sets itself.
    """
    if taken := sorted(OWN_ARGUMENTS.intersection(engine)):
        raise LanewrightError(
            f"engine argument {', '.join(taken)} is set by the boot itself",
            hint="take it out of the lane's series",
        )
    return {**({"worker_extension_cls": EXTENSION} if carries_bank(env) else {}), **engine}


def carries_bank(env: LaneEnv) -> bool:
    """Tell whether the lane's tree holds the expert_bank overlay."""
    return (env.site / "expert_bank").is_dir()


def prove(
    env: LaneEnv, engine: Mapping[str, object], status: Sequence[Mapping[str, Any]], where: str
) -> None:
    """Check by the workers' own word that what the lane carries took effect.

    Args:
        env: The lane.
        engine: Arguments that the lane asked for.
        status: ``expert_bank_status`` of each worker.
        where: Which boot this was, for the message.

    Raises:
        MismatchError: A carried feature did not take effect.
    """
    wanted = bool(engine.get("moe_usage_counter", False))
    if not carries_bank(env):
        if wanted:
            raise MismatchError(
                f"{where}: moe_usage_counter is asked for, and without the expert_bank overlay "
                "nothing can prove it",
                hint="carry overlay/expert_bank in this lane, or drop moe_usage_counter",
            )
        return
    if not status:
        raise MismatchError(f"{where}: no worker answered expert_bank_status")
    for worker in status:
        if not worker["plugin"]:
            raise MismatchError(
                f"{where}: expert_bank is on the path, but vLLM did not load its plugin in worker "
                f"{worker['pid']}",
                hint="check expert_bank-*.dist-info/entry_points.txt in the lane's tree",
            )
        if bool(worker["moe_usage_counter"]) != wanted:
            raise MismatchError(
                f"{where}: moe_usage_counter was asked to be {wanted}, and worker "
                f"{worker['pid']} has {worker['moe_usage_counter']}",
                hint="check that the lane's tree holds patches/own/moe-usage-counter.patch",
            )
