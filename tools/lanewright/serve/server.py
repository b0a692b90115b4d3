"""Boot a lane's OpenAI server and ask it."""

import secrets
import time
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
from lanewright.serve.child import Child, child, ended, watch
from lanewright.serve.client import RefusedError, healthy, post, serves
from lanewright.serve.environment import LaneEnv
from lanewright.serve.flags import flags
from lanewright.serve.port import HOST, usable_port
from lanewright.terminal import stage

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
        log: File with the server's output.
    """

    port: int
    command: tuple[str, ...]
    seconds: Mapping[str, float]
    health: bool
    completions: tuple[Completion, ...]
    status: tuple[Mapping[str, Any], ...]
    log: str


def boot_server(
    env: LaneEnv,
    model: Path,
    engine: Mapping[str, object],
    folder: Path,
    *,
    port: int | None = None,
) -> ServerBoot:
    """Boot vLLM's OpenAI server, ask it every prompt greedily, one at a time, and stop it.

    Args:
        env: The lane.
        model: Folder of the model.
        engine: Keyword arguments of ``vllm.LLM``; they become the server's flags.
        folder: Where ``server.log`` goes.
        port: Port on 127.0.0.1; a free one when None.

    Raises:
        BootError: The server died, hung, or did not answer.
        MismatchError: A carried feature did not take effect.
        LanewrightError: The port is taken, or an engine argument is the boot's own.
    """
    port = usable_port(port)
    # A name of this run alone: two servers may share a port, and neither must prove the other.
    name = f"{model.name}-{secrets.token_hex(4)}"
    command = (
        *(str(env.python), "-m", MODULE),
        *(f"--model={model}", f"--served-model-name={name}"),
        *(f"--host={HOST}", f"--port={port}"),
        *flags(engine_arguments(env, engine)),
    )
    # The development mode has the endpoint that asks the workers.
    environ = {**env.environ(), "VLLM_SERVER_DEV_MODE": "1"}
    log = folder / "server.log"
    start = time.monotonic()
    with (
        stage(f"server boot on port {port}"),
        child("server", command, environ=environ, log=log) as running,
    ):
        died = watch(
            running, seconds=BOOT_SECONDS, ready=lambda: healthy(port) and serves(port, name)
        )
        if died is not None:
            raise running.died(f"{ended(died)} before it was up")
        ready = time.monotonic()
        completions, status = ask(running, port, name, asks_workers=carries_bank(env))
        health = healthy(port)
        asked = time.monotonic()
        if not health:
            raise running.died("no longer answered /health after the completions")
    prove(env, engine, status, "server boot")
    seconds = {
        "ready": round(ready - start, 3),
        "requests": round(asked - ready, 3),
        "stop": round(time.monotonic() - asked, 3),
    }
    return ServerBoot(port, command, seconds, health, completions, status, str(log))


def ask(
    running: Child, port: int, model: str, *, asks_workers: bool
) -> tuple[tuple[Completion, ...], tuple[Mapping[str, Any], ...]]:
    """Ask for every completion, then for the workers' status.

    Raises:
        BootError: The server did not answer as it should.
    """
    try:
        completions = tuple(complete(port, model, prompt) for prompt in PROMPTS)
        if not asks_workers:
            return completions, ()
        body = {"method": "expert_bank_status"}
        answer = post(port, "/collective_rpc", body, seconds=REQUEST_SECONDS)
    except RefusedError as error:
        raise running.died(f"failed a request: {error}") from error
    return completions, tuple(answer.get("results", ()))


def complete(port: int, model: str, prompt: str) -> Completion:
    """Ask for one greedy completion.

    Raises:
        RefusedError: The server did not answer with token ids.
    """
    body = {
        "model": model,
        "prompt": prompt,
        "max_tokens": MAX_TOKENS,
        "temperature": 0,
        "return_token_ids": True,
    }
    answer = post(port, "/v1/completions", body, seconds=REQUEST_SECONDS)
    try:
        choice = answer["choices"][0]
        return Completion(prompt, tuple(choice["token_ids"]), choice["text"])
    except (KeyError, IndexError, TypeError) as error:
        raise RefusedError(f"/v1/completions answered without token ids: {answer}") from error
