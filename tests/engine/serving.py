"""A lane's own server, as a user starts it: asked, signalled and ended by tests."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanewright.serve.boot import engine_arguments
from lanewright.serve.client import healthy, post
from lanewright.serve.flags import flags
from lanewright.serve.port import HOST, usable_port
from lanewright.serve.server import MODULE
from tests.engine.lane_python import Laid

SECONDS = 300.0
NAME = "served"


@dataclass(frozen=True)
class Server:
    """A server that is up.

    Attributes:
        process: The API server; leads a process group of its own.
        port: Of 127.0.0.1.
        log: What it printed.
    """

    process: "subprocess.Popen[bytes]"
    port: int
    log: Path

    def rpc(self, method: str, *args: object) -> list[Any]:
        """Ask every worker; raises RefusedError where one refuses."""
        body = {"method": method, "args": [*args]}
        found: list[Any] = post(self.port, "/collective_rpc", body, seconds=SECONDS)["results"]
        return found

    def ask(self, prompt: list[int], tokens: int, seconds: float = SECONDS) -> list[int]:
        """Go on with a prompt greedily; the answer's token ids."""
        body = {
            "model": NAME,
            "prompt": prompt,
            "max_tokens": tokens,
            "temperature": 0,
            "ignore_eos": True,
            "return_token_ids": True,
        }
        (choice,) = post(self.port, "/v1/completions", body, seconds=seconds)["choices"]
        return [*choice["token_ids"]]

    def ask_one_by_one(self, prompts: Sequence[list[int]], tokens: int) -> list[list[int]]:
        """Ask one prompt after the other."""
        return [self.ask(prompt, tokens) for prompt in prompts]

    @contextmanager
    def asked(
        self, prompts: Sequence[list[int]], tokens: int, seconds: float = SECONDS
    ) -> Iterator[list[Any]]:
        """Have all prompts asked at once while the block runs; futures of the answers."""
        with ThreadPoolExecutor(len(prompts)) as pool:
            yield [pool.submit(self.ask, prompt, tokens, seconds) for prompt in prompts]


@contextmanager
def served(laid: Laid, engine: dict[str, Any], folder: Path) -> Iterator[Server]:
    """Start a lane's server; ended with its whole group, however the block is left."""
    env, port = laid.lane.env, usable_port(None)
    log = folder / f"server-{port}.log"
    command = [
        *(str(env.python), "-m", MODULE, f"--model={laid.model}", f"--served-model-name={NAME}"),
        *(f"--host={HOST}", f"--port={port}", *flags(engine_arguments(env, engine, "cpu"))),
    ]
    environ = {**env.environ(), "VLLM_SERVER_DEV_MODE": "1"}
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=environ,
            cwd=folder,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + SECONDS
        while not healthy(port):
            assert process.poll() is None, log.read_text()[-4000:]
            assert time.monotonic() < deadline, log.read_text()[-4000:]
            time.sleep(0.2)
        yield Server(process, port, log)
    finally:
        if group(process.pid):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def group(leader: int) -> list[int]:
    """Processes of a group that are alive."""
    found = []
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, grouped, *_ = each.read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        if int(grouped) == leader and state != "Z":
            found.append(int(each.parent.name))
    return found
