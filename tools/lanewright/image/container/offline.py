"""The offline engine in a container, against the one outside."""

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lanewright.errors import MismatchError
from lanewright.image.container.boxed import Box
from lanewright.image.container.command import SCRIPTS, WORK
from lanewright.image.container.golden import Golden
from lanewright.image.container.seen import Smoke
from lanewright.queue.lock import Lock
from lanewright.serve.boot import engine_arguments
from lanewright.serve.engines import Arm
from lanewright.serve.equality.sharing import as_many
from lanewright.serve.evidence import Evidence
from lanewright.serve.features import carries_bank
from lanewright.serve.lane import Lane
from lanewright.serve.proof import prove

MOST_TOLD = 12


def boot_offline(box: Box, lane: Lane, measure: Golden, done: Smoke, work: Path) -> None:
    """Ask the engine in a container what was asked outside, and compare.

    Raises:
        BootError: It died or hung.
        MismatchError: An answer is another, or a feature did not run.
    """
    start = time.monotonic()
    prompts = [each["prompt"] for each in measure.completions]
    tokens = max(len(each["ids"]) for each in measure.completions)
    settings = {"enable_prefix_caching": False} if measure.exact else {}
    whole = engine_arguments(lane.env, {**lane.engine, **settings}, lane.device)
    arm = Arm(
        name="container",
        engine=whole,
        prompts=prompts,
        max_tokens=tokens,
        exact=measure.exact,
        workers=carries_bank(lane.env),
    )
    result = {"model": box.model, "result": f"{WORK}/offline.json", "note": None}
    spec = {"cores": as_many(measure.cores), "arms": [{**asdict(arm), **result}]}
    (work / "offline.spec.json").write_text(json.dumps(spec))
    box.python(
        "offline",
        [f"{SCRIPTS}/arms.py", f"{WORK}/offline.spec.json"],
        "--env=VLLM_ENABLE_V1_MULTIPROCESSING=0",
    )
    found = json.loads((work / "offline.json").read_text())
    _require_same_answers(lane.lock, measure, found["completions"], "the engine")
    proofs = prove(lane.env, lane.engine, Evidence.read(found), "boot in a container")
    done.proofs = [proof.text for proof in proofs]
    done.answers = len(prompts)
    done.tokens = sum(len(each["ids"]) for each in measure.completions)
    done.seconds |= {f"offline {step}": taken for step, taken in found["seconds"].items()}
    done.seconds["offline"] = round(time.monotonic() - start, 1)


def _require_same_answers(
    lock: Lock, measure: Golden, found: list[dict[str, Any]], who: str
) -> None:
    keys = ("ids", "text", "bits", "likeliest") if measure.exact else ("ids",)
    told = [
        f"  prompt {number} {wanted['prompt'][:40]!r}: {key} differ"
        for number, (wanted, given) in enumerate(zip(measure.completions, found, strict=True), 1)
        for key in keys
        if wanted[key] != given[key]
    ]
    if told:
        raise MismatchError(
            f"lane {lock.lane}: {who} in a container does not answer as {measure.whose} does:\n"
            + "\n".join(told[:MOST_TOLD]),
            hint=f"compare with {measure.run}",
        )
