"""Boot a lane's engine without a server."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanewright.project import Device
from lanewright.serve.asking import boot_prompts
from lanewright.serve.boot import Completion, engine_arguments
from lanewright.serve.engines import Arm, starting
from lanewright.serve.environment import LaneEnv
from lanewright.serve.evidence import Evidence, Proof
from lanewright.serve.features import carries_bank
from lanewright.serve.length import answer_tokens
from lanewright.serve.proof import prove
from lanewright.terminal import stage


@dataclass(frozen=True)
class OfflineBoot:
    """What an offline boot found.

    Attributes:
        vllm: Version that vLLM gives itself.
        vllm_file: Where vLLM was imported from.
        torch: Version of torch.
        python: Version of Python.
        seconds: Time of ``import``, ``engine`` and ``generate``.
        completions: One per prompt.
        status: ``expert_bank_status`` of each worker; empty without the overlay.
        usage: ``expert_bank_usage`` of each worker; None where one does not count.
        proofs: One per feature that the overlay brings.
        log: File with the engine's output.
    """

    vllm: str
    vllm_file: str
    torch: str
    python: str
    seconds: Mapping[str, float]
    completions: tuple[Completion, ...]
    status: tuple[Mapping[str, Any], ...]
    usage: tuple[Mapping[str, Any] | None, ...]
    proofs: tuple[Proof, ...]
    log: str


def boot_offline(
    env: LaneEnv, model: Path, engine: Mapping[str, object], folder: Path, *, device: Device
) -> OfflineBoot:
    """Boot the engine in one process and answer every prompt greedily, one at a time.

    Args:
        env: The lane.
        model: Folder of the model.
        engine: Keyword arguments of ``vllm.LLM``.
        folder: Where ``offline.log`` and the spec and result files go.
        device: What the lane runs on.

    Raises:
        BootError: The engine died or hung.
        MismatchError: A carried feature did not take effect.
        LanewrightError: An engine argument is the boot's own.
    """
    arm = Arm(
        name="boot",
        engine=engine_arguments(env, engine, device),
        prompts=boot_prompts(engine),
        max_tokens=answer_tokens(engine),
        workers=carries_bank(env),
    )
    with stage("offline boot"), starting(env, model, [arm], folder, name="offline") as running:
        (found,) = running.wait()
    evidence = Evidence.read(found)
    return OfflineBoot(
        vllm=found["vllm"],
        vllm_file=found["vllm_file"],
        torch=found["torch"],
        python=found["python"],
        seconds=found["seconds"],
        completions=evidence.completions,
        status=evidence.status,
        usage=evidence.usage,
        proofs=prove(env, engine, evidence, "offline boot"),
        log=str(folder / "offline.log"),
    )
