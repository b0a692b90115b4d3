"""What every way of booting a lane shares: prompts, answers and the engine's arguments."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from lanewright.errors import LanewrightError
from lanewright.project import Device
from lanewright.serve.environment import LaneEnv
from lanewright.serve.features import (
    BANKS,
    RECORD,
    SETTINGS,
    carries_bank,
    require_kinds,
    switched_on,
)

PROMPTS = (
    "The lane is open and the first token",
    "def barrier(rows):",
    "Experts 3, 7 and 11 answer; 13 waits.",
    "Größe ändert nichts, naïve café",
)
EXTENSION = "expert_bank.glue.extension.WorkerExtension"
WORKERS: Mapping[Device, str] = {
    "cpu": "expert_bank.glue.cpu_worker.CPUWorker",
    "cuda": "expert_bank.glue.gpu_worker.Worker",
}
# Set by the boot itself, from its own arguments.
OWN_ARGUMENTS = frozenset({"host", "model", "port", "served_model_name"})
# Would serve another model than the one that the record names.
MODEL_ARGUMENTS = frozenset(
    {
        "hf_config_path",
        "hf_overrides",
        "load_format",
        "model_loader_extra_config",
        "quantization",
        "tokenizer",
    }
)


@dataclass(frozen=True)
class Completion:
    """One greedy answer.

    Attributes:
        prompt: Text that was asked.
        ids: Token ids of the answer.
        text: The same, decoded.
        prompt_tokens: How many tokens the prompt has.
        cached_tokens: How many of them the prefix cache had.
    """

    prompt: str
    ids: tuple[int, ...]
    text: str
    prompt_tokens: int
    cached_tokens: int

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> Self:
        """Read what ``inside/arms.py`` wrote of one."""
        return cls(
            prompt=found["prompt"],
            ids=tuple(found["ids"]),
            text=found["text"],
            prompt_tokens=found["prompt_tokens"],
            cached_tokens=found["cached_tokens"],
        )


def engine_arguments(
    env: LaneEnv, engine: Mapping[str, object], device: Device
) -> dict[str, object]:
    """Add what the overlay needs to a lane's engine arguments, where its tree holds it.

    The worker class is ours only where a feature is on; what the lane itself says goes before.

    Raises:
        LanewrightError: As ``require_arguments`` says.
    """
    require_arguments(engine)
    return with_workers(engine, device) if carries_bank(env) else dict(engine)


def require_arguments(engine: Mapping[str, object]) -> None:
    """Go on where a boot can hand a lane's engine arguments on.

    Raises:
        LanewrightError: The lane sets an argument that the boot sets itself, or one that makes
            another model of its recipe's, or a feature to something that it cannot be.
    """
    if taken := sorted(OWN_ARGUMENTS.intersection(engine)):
        raise LanewrightError(
            f"engine argument {', '.join(taken)} is set by the boot itself",
            hint="take it out of the lane's series",
        )
    if RECORD in engine:
        raise LanewrightError(
            f"engine argument {RECORD} is of a run, and no lane's",
            hint="take it out of the lane's series; `lanewright residency record` sets it",
        )
    if taken := sorted(MODEL_ARGUMENTS.intersection(engine)):
        raise LanewrightError(
            f"engine argument {', '.join(taken)} would make another model of the lane's recipe",
            hint="take it out of the lane's series",
        )
    require_kinds(engine)
    if (idle := sorted(set(SETTINGS).intersection(engine))) and not engine.get(BANKS):
        raise LanewrightError(
            f"engine argument {', '.join(idle)} says nothing without {BANKS}",
            hint=f"set {BANKS} in the lane's series, or take it out",
        )


def with_workers(engine: Mapping[str, object], device: Device) -> dict[str, object]:
    """Add the worker classes of the overlay to engine arguments of a tree that holds it."""
    worker = {"worker_cls": WORKERS[device]} if switched_on(engine) else {}
    return {"worker_extension_cls": EXTENSION, **worker, **engine}
