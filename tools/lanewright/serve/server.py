"""Boot a lane's OpenAI server and ask it."""

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanewright.guarded import ended
from lanewright.project import Device
from lanewright.serve.asking import boot_prompts
from lanewright.serve.boot import Completion, engine_arguments
from lanewright.serve.child import Child, watch
from lanewright.serve.client import RefusedError, healthy, post, serves
from lanewright.serve.completing import completion_body, read_completion
from lanewright.serve.environment import STATS, LaneEnv
from lanewright.serve.evidence import Evidence, Proof
from lanewright.serve.features import carries_bank
from lanewright.serve.flags import flags
from lanewright.serve.length import answer_tokens
from lanewright.serve.metrics import metrics_of, with_metrics
from lanewright.serve.port import HOST, usable_port
from lanewright.serve.proof import prove
from lanewright.terminal import stage

SHIMMED = Path(__file__).parent / "inside" / "serve.py"
MODULE = "vllm.entrypoints.openai.api_server"
BOOT_SECONDS = 600.0
REQUEST_SECONDS = 120.0


@dataclass(frozen=True)
class ServerBoot:
    """What a server boot found.

    Attributes:
        port: Where the server listened, on 127.0.0.1.
        command: How it was started.
        seconds: Time until ``ready`` (``/health`` answered), of ``requests``, and to ``stop``.
        health: Whether ``/health`` answered once the completions were done, too.
        completions: One per prompt, from ``/v1/completions``.
        status: ``expert_bank_status`` of each worker; empty without the overlay.
        usage: ``expert_bank_usage`` of each worker; None where one does not count.
        proofs: One per feature that the overlay brings.
        log: File with the server's output.
    """

    port: int
    command: tuple[str, ...]
    seconds: Mapping[str, float]
    health: bool
    completions: tuple[Completion, ...]
    status: tuple[Mapping[str, Any], ...]
    usage: tuple[Mapping[str, Any] | None, ...]
    proofs: tuple[Proof, ...]
    log: str


def boot_server(
    env: LaneEnv,
    model: Path,
    engine: Mapping[str, object],
    folder: Path,
    *,
    device: Device,
    port: int | None = None,
) -> ServerBoot:
    """Boot vLLM's OpenAI server, ask it every prompt greedily, one at a time, and stop it.

    Args:
        env: The lane.
        model: Folder of the model.
        engine: Keyword arguments of ``vllm.LLM``; they become the server's flags.
        folder: Where ``server.log`` goes.
        device: What the lane runs on.
        port: Port on 127.0.0.1; a free one when None.

    Raises:
        BootError: The server died, hung, or did not answer.
        MismatchError: A carried feature did not take effect.
        LanewrightError: The port is taken, or an engine argument is the boot's own.
    """
    port = usable_port(port)
    # A name of this run alone: two servers may share a port, and neither must prove the other.
    name = f"{model.name}-{secrets.token_hex(4)}"
    words = (
        *((str(SHIMMED),) if env.shims else ("-m", MODULE)),
        *(f"--model={model}", f"--served-model-name={name}"),
        *(f"--host={HOST}", f"--port={port}"),
        *flags(engine_arguments(env, engine, device)),
        "--enable-prompt-tokens-details",
    )
    # The development mode has the endpoint that asks the workers.
    environ = {"VLLM_SERVER_DEV_MODE": "1"}
    if carries_bank(env):
        environ[STATS] = str(folder / "stats.json")
    log = folder / "server.log"
    start = time.monotonic()
    with (
        stage(f"server boot on port {port}"),
        env.running("server", words, environ=environ, log=log, reads=[model]) as running,
    ):
        died = watch(
            running, seconds=BOOT_SECONDS, ready=lambda: healthy(port) and serves(port, name)
        )
        if died is not None:
            raise running.died(f"{ended(died)} before it was up")
        ready = time.monotonic()
        evidence = ask(
            running,
            port,
            name,
            boot_prompts(engine),
            tokens=answer_tokens(engine),
            asks_workers=carries_bank(env),
        )
        metrics = ask_metrics(running, port) if any(evidence.banks) else None
        health = healthy(port)
        asked = time.monotonic()
        if not health:
            raise running.died("no longer answered /health after the completions")
    proofs = prove(env, engine, evidence, "server boot")
    if metrics is not None:
        proofs = with_metrics(proofs, metrics, evidence, "server boot")
    seconds = {
        "ready": round(ready - start, 3),
        "requests": round(asked - ready, 3),
        "stop": round(time.monotonic() - asked, 3),
    }
    return ServerBoot(
        port=port,
        command=(str(env.python), *words),
        seconds=seconds,
        health=health,
        completions=evidence.completions,
        status=evidence.status,
        usage=evidence.usage,
        proofs=proofs,
        log=str(log),
    )


def ask(
    running: Child,
    port: int,
    model: str,
    prompts: Sequence[str],
    *,
    tokens: int,
    asks_workers: bool,
) -> Evidence:
    """Ask for every completion, each of so many tokens, then for the workers' status, usage and banks.

    Raises:
        BootError: The server did not answer as it should.
    """
    try:
        completions = tuple(complete(port, model, prompt, tokens) for prompt in prompts)
        asked = ("expert_bank_status", "expert_bank_usage", "expert_bank_banks")
        methods = asked if asks_workers else ()
        answers = [
            post(port, "/collective_rpc", {"method": method}, seconds=REQUEST_SECONDS)
            for method in methods
        ]
    except RefusedError as error:
        raise running.died(f"failed a request: {error}") from error
    status, usage, banks = [tuple(each.get("results", ())) for each in answers] or [(), (), ()]
    return Evidence(status, usage, completions, banks=banks)


def ask_metrics(running: Child, port: int) -> str:
    """Ask for ``/metrics``, as they are now.

    Raises:
        BootError: The server did not answer as it should.
    """
    try:
        return metrics_of(port, seconds=REQUEST_SECONDS)
    except RefusedError as error:
        raise running.died(f"failed a request: {error}") from error


def complete(port: int, model: str, prompt: str, tokens: int) -> Completion:
    """Ask for one greedy completion of so many tokens.

    Raises:
        RefusedError: The server did not answer with token ids and their count.
    """
    body = completion_body(model, prompt, tokens)
    return read_completion(prompt, post(port, "/v1/completions", body, seconds=REQUEST_SECONDS))
