"""Boot a lane's engine without a server."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanewright.serve.boot import (
    MAX_TOKENS,
    PROMPTS,
    Completion,
    carries_bank,
    engine_arguments,
    prove,
)
from lanewright.serve.child import child, ended, watch
from lanewright.serve.environment import LaneEnv
from lanewright.terminal import stage

SCRIPT = Path(__file__).parent / "inside" / "offline.py"
SECONDS = 600.0


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
        log: File with the engine's output.
    """

    vllm: str
    vllm_file: str
    torch: str
    python: str
    seconds: Mapping[str, float]
    completions: tuple[Completion, ...]
    status: tuple[Mapping[str, Any], ...]
    log: str


def boot_offline(
    env: LaneEnv, model: Path, engine: Mapping[str, object], folder: Path
) -> OfflineBoot:
    """Boot the engine in one process and answer every prompt greedily, one at a time.

    Args:
        env: The lane.
        model: Folder of the model.
        engine: Keyword arguments of ``vllm.LLM``.
        folder: Where ``offline.log`` and the spec and result files go.

    Raises:
        BootError: The engine died or hung.
        MismatchError: A carried feature did not take effect.
        LanewrightError: An engine argument is the boot's own.
    """
    arguments = engine_arguments(env, engine)
    spec = {
        "model": str(model),
        "engine": arguments,
        "prompts": PROMPTS,
        "max_tokens": MAX_TOKENS,
        "status": carries_bank(env),
    }
    spec_file, result_file = folder / "offline.spec.json", folder / "offline.result.json"
    spec_file.write_text(json.dumps(spec, indent=1) + "\n")
    command = [str(env.python), str(SCRIPT), str(spec_file), str(result_file)]
    # In one process: vLLM is imported once, which is most of the time a boot takes.
    environ = {**env.environ(), "VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
    log = folder / "offline.log"
    with stage("offline boot"), child("offline", command, environ=environ, log=log) as running:
        status = watch(running, seconds=SECONDS)
        if status:
            raise running.died(ended(status))
    found = json.loads(result_file.read_text())
    prove(env, engine, found["status"], "offline boot")
    return OfflineBoot(
        **{
            **found,
            "completions": tuple(
                Completion(each["prompt"], tuple(each["ids"]), each["text"])
                for each in found["completions"]
            ),
            "status": tuple(found["status"]),
            "log": str(log),
        }
    )
