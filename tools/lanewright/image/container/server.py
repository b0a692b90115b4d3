"""The server in a container, by the image's own entry point."""

import json
import time
from pathlib import Path

import msgspec

from lanewright.errors import MismatchError
from lanewright.image.container.boxed import Box, own_name, patience
from lanewright.image.container.command import OWN, WORK, arguments
from lanewright.image.container.golden import Golden
from lanewright.image.container.seen import Smoke
from lanewright.queue.lock import Lock, layer_of
from lanewright.queue.series import Series
from lanewright.serve.boot import PROMPTS, Completion
from lanewright.serve.client import OK, RefusedError
from lanewright.serve.completing import completion_body, read_completion
from lanewright.serve.evidence import Evidence
from lanewright.serve.features import carries_bank
from lanewright.serve.lane import Lane
from lanewright.serve.length import answer_tokens
from lanewright.serve.proof import prove
from lanewright.terminal import say

START_SECONDS = 120
POLL = 0.2
WORKERS = ("expert_bank_status", "expert_bank_usage", "expert_bank_banks")


def boot_server(
    box: Box, series: Series, lane: Lane, measure: Golden, done: Smoke, work: Path
) -> None:
    """Serve by the image's own entry point, ask from within, and stop it.

    Raises:
        BootError: The server died, hung, or did not answer.
        MismatchError: It answers something else, tells another version, or does not stop cleanly.
    """
    tokens, port = answer_tokens(lane.engine), box.run.port
    prompts = list(PROMPTS)
    bodies = [completion_body(box.model, prompt, tokens) for prompt in prompts]
    requests: list[tuple[str, str, object]] = [("GET", "/version", None)]
    requests += [("POST", "/v1/completions", body) for body in bodies]
    if carries_bank(lane.env):
        requests += [("POST", "/collective_rpc", {"method": method}) for method in WORKERS]
    asked = {"port": port, "seconds": patience(box.run), "requests": requests}
    (work / "asked.json").write_text(json.dumps(asked))
    name = own_name("server")
    series = msgspec.structs.replace(series, engine=dict(lane.engine))
    words = [*arguments(series, lane.lock, box.model, port=port), "--enable-prompt-tokens-details"]
    command = box.command(name, words, "--env=VLLM_SERVER_DEV_MODE=1")
    with box.running("server", command, name) as running:
        # Its files are there as soon as it runs; it waits itself until the server is well.
        start = time.monotonic()
        while running.guard.poll() is None and not _runs(box, name):
            if time.monotonic() - start > START_SECONDS:
                raise running.died(f"did not start within {START_SECONDS} s")
            time.sleep(POLL)
        said = box.asked(
            "exec", name, "python3", f"{OWN}/ask.py", f"{WORK}/asked.json", f"{WORK}/answers.json"
        )
        if said.returncode:
            raise running.died(f"did not answer in a container: {said.stderr.strip()[-300:]}")
        took = box.stopped(name, running)
    found = json.loads((work / "answers.json").read_text())
    done.seconds |= {"server ready": found["ready"], "server stop": round(took, 1)}
    _judge(lane, measure, done, prompts, found["answers"])


def _runs(box: Box, name: str) -> bool:
    return box.asked("inspect", "--format={{.State.Running}}", name).stdout.strip() == "true"


def _judge(
    lane: Lane, measure: Golden, done: Smoke, prompts: list[str], answers: list[tuple[int, str]]
) -> None:
    lock = lane.lock
    bad = [f"{status}: {text[:200]}" for status, text in answers if status != OK]
    if bad:
        raise MismatchError(f"lane {lock.lane}: the server in a container answered {bad[0]}")
    version, *rest = [json.loads(text) for _, text in answers]
    done.version = version["version"]
    if layer_of(lock).version and done.version != layer_of(lock).version:
        raise MismatchError(
            f"lane {lock.lane}: the server in a container calls itself {done.version},"
            f" not {layer_of(lock).version}"
        )
    try:
        given = [
            read_completion(prompt, answer)
            for prompt, answer in zip(prompts, rest[: len(prompts)], strict=True)
        ]
    except RefusedError as error:
        raise MismatchError(f"lane {lock.lane}: the server in a container: {error}") from error
    say(f"  server in a container: {done.version}, {len(given)} completions")
    workers = [tuple(each.get("results", ())) for each in rest[len(prompts) :]]
    if workers:
        status, usage, banks = workers
        evidence = Evidence(status, usage, tuple(given), banks=banks)
        proofs = prove(lane.env, lane.engine, evidence, "server in a container")
        done.proofs += [proof.text for proof in proofs]
    _require_server(lock, measure, given)


def _require_server(lock: Lock, measure: Golden, given: list[Completion]) -> None:
    """Compare with the offline boot of the run that is the measure: those prompts, one at a time."""
    record = json.loads((measure.run / "record.json").read_text())
    offline = record["boots"]["offline"]["completions"]
    wanted = {each["prompt"]: each["ids"] for each in offline}
    told = [
        f"  {each.prompt[:40]!r}"
        for each in given
        # One that was not asked outside is compared with nothing, which is no success.
        if list(each.ids) != wanted.get(each.prompt)
    ]
    if told:
        raise MismatchError(
            f"lane {lock.lane}: the server in a container does not answer as the lane does"
            " outside:\n" + "\n".join(told),
            hint=f"compare with {measure.run}",
        )
