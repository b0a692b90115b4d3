"""Runs a lane's engine on requests and reads what it recorded."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from expert_bank.recording.settings import FOLDER, HIDDEN, SIZE
from lanewright.errors import MismatchError
from lanewright.guarded import ended
from lanewright.residency.record.requests import Request
from lanewright.residency.trace_file.engine_file import read_engine_file
from lanewright.residency.trace_file.recorded import Recorded
from lanewright.residency.trace_file.sums import require_exact
from lanewright.serve.boot import engine_arguments
from lanewright.serve.child import watch
from lanewright.serve.features import COUNTER, RECORD, switched_on
from lanewright.serve.lane import Lane
from lanewright.serve.named_files import root_of
from lanewright.serve.served import Served

SCRIPT = Path(__file__).parents[2] / "serve" / "inside" / "record_picks.py"


def record(
    lane: Lane,
    model: Served,
    requests: Sequence[Request],
    folder: Path,
    *,
    at_once: int,
    hidden: bool,
    size: str,
) -> Recorded:
    """Serve requests and give the trace of them, exact to the pick.

    Args:
        lane: Is laid out.
        model: That it serves.
        requests: What is asked.
        folder: For the log and what the engine writes.
        at_once: How many requests are asked together.
        hidden: Whether hidden states are kept; the engine is eager then.
        size: That the engine's file may have, as ``4GiB``.

    Raises:
        BootError: The engine died or hung.
        MismatchError: The trace is not of what was asked, or lacks some of it.
    """
    engine = engine_arguments(lane.env, _recording(lane.engine, hidden=hidden), lane.device)
    result, spec = folder / "result.json", folder / "spec.json"
    place = model.folder.resolve()
    whole = {
        "model": str(place),
        "engine": {**engine, RECORD: True},
        "requests": msgspec.to_builtins(requests),
        "at_once": at_once,
        "result": str(result),
    }
    spec.write_text(json.dumps(whole) + "\n")
    environ = {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        FOLDER: str(folder),
        SIZE: size,
        HIDDEN: "1" if hidden else "0",
    }
    words, log = [str(SCRIPT), str(spec)], folder / "record.log"
    with lane.env.running("record", words, environ=environ, log=log, reads=[root_of(place)]) as run:
        if status := watch(run, seconds=lane.env.patience):
            raise run.died(ended(status))
    found = json.loads(result.read_text())
    (usage,), (told,) = found["usage"], found["recorded"]
    if told["ended"]:
        raise MismatchError(
            f"the recording ended behind {told['written']} tokens: {told['ended']}",
            hint="ask for less, or give the file more room with --size",
        )
    trace = read_engine_file(folder / Path(told["file"]).name, model=model.content)
    require_whole(trace, found["asked"], usage, drafts="speculative_config" in engine)
    return trace


def require_whole(
    trace: Recorded, asked: Sequence[Mapping[str, int]], usage: Mapping[str, Any], *, drafts: bool
) -> None:
    """Hold a trace against the requests' own outputs and against the usage counter.

    Args:
        trace: What was recorded.
        asked: Of each request ``prompt``, ``cached`` and ``answer``, in tokens.
        usage: What ``expert_bank_usage`` answered.
        drafts: Whether drafts may have been scheduled, which are in no answer.

    Raises:
        MismatchError: They differ.
    """
    answers = sum(each["prompt"] - each["cached"] + each["answer"] - 1 for each in asked)
    places = np.stack([trace.request, trace.position], axis=1)[trace.accepted]
    # What was preempted is computed again.
    again = len(places) - len(np.unique(places, axis=0))
    if not drafts and trace.tokens - again != answers:
        raise MismatchError(
            f"the trace has {trace.tokens} tokens, {again} of them computed again, and by the answers"
            f" {answers} were scheduled"
        )
    if trace.tokens < answers:
        raise MismatchError(f"the trace has {trace.tokens} tokens, and the answers need {answers}")
    require_exact(trace, usage["tokens"], np.array(usage["counts"], np.int64))


def _recording(engine: Mapping[str, object], *, hidden: bool) -> dict[str, object]:
    counting = {} if switched_on(engine) else {COUNTER: True}
    return {**engine, **counting, **({"enforce_eager": True} if hidden else {})}
