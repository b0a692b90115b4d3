"""Times decode steps of one engine with a feature on and off, by a switch that knows how.

Run with the lane's Python by ``toggle_*.py SPEC``. SPEC is a JSON file with ``model``, ``engine``,
``blocks``, ``batches``, ``seed``, ``busy`` and ``result``. With ``busy``, what is timed is the
processor time of the thread that runs the steps. A block is three arms in random order: on, off,
and off again as the self control. Each arm is two steps, of which the second is timed: in the
first, Python's own caches still hold the other class, and the processor's the other rows, which no
lane ever pays for.
"""

import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

ARMS = ("on", "off", "self")
PROMPT_TOKENS = 8
# Prefill is no decode step, and the first steps after it are still warming up.
WARM_UP = 4
Answers = list[list[int]]


class Switch(Protocol):
    """Turns a feature on and off between two steps."""

    def turn(self, *, on: bool) -> None:
        """Let the next steps run with it or without."""

    def told(self, decode: Callable[[], Answers]) -> dict[str, Any]:
        """Tell ``layers`` and what else is to be known, once all is timed.

        Args:
            decode: Runs some steps more with the feature on, and gives their answers.

        Raises:
            RuntimeError: The steps that were on did not run as such.
        """


@dataclass(frozen=True)
class Timed:
    """What became of one generation.

    Attributes:
        blocks: Seconds of a step by arm.
        answers: Token ids of each sequence.
    """

    blocks: list[dict[str, float]]
    answers: Answers


def main(make: Callable[[Any], Switch], spec_file: str) -> None:
    """Boot, time every batch size, and write the times and what the switch tells.

    Raises:
        RuntimeError: Answers hang on which steps were on; or as ``Switch.told``.
    """
    import vllm  # noqa: PLC0415 - half a minute that a wrong call need not pay

    spec = json.loads(Path(spec_file).read_text())
    llm = vllm.LLM(model=spec["model"], **spec["engine"])
    switch = make(llm.llm_engine.model_executor.driver_worker.worker)
    rng = random.Random(spec["seed"])  # noqa: S311 - order of steps, no secret
    longest, times = spec["engine"]["max_model_len"], {}
    clock = time.thread_time if spec["busy"] else time.perf_counter
    for batch in spec["batches"]:
        blocks: list[dict[str, float]] = []
        first: Answers = []
        while len(blocks) < spec["blocks"]:
            timed = generation(llm, switch, rng, batch, longest, clock)
            first = first or timed.answers
            if timed.answers != first:
                raise RuntimeError(f"batch {batch}: answers hang on which steps were on")
            blocks += timed.blocks
            print(f"arm batch-{batch}: {len(blocks)} of {spec['blocks']} blocks", flush=True)
        times[batch] = blocks
    alone = rest(llm, switch, spec["batches"][-1], longest, on=False)
    if alone != first:
        raise RuntimeError("answers are others where no step was on")
    told = switch.told(lambda: rest(llm, switch, spec["batches"][-1], longest, on=True))
    Path(spec["result"]).write_text(json.dumps({"times": times, **told}))


def generation(
    llm: Any,  # noqa: ANN401 - vLLM's
    switch: Switch,
    rng: random.Random,
    batch: int,
    longest: int,
    clock: Callable[[], float],
) -> Timed:
    """Decode ``batch`` sequences up to the model's length; seconds of each step, by block."""
    engine = llm.llm_engine
    tokens = ask(engine, batch, longest)
    switch.turn(on=False)
    for _ in range(WARM_UP):
        engine.step()
    blocks = []
    for _ in range((tokens - WARM_UP - 2) // (2 * len(ARMS))):
        block = {}
        for arm in rng.sample(ARMS, len(ARMS)):
            switch.turn(on=arm == "on")
            engine.step()
            start = clock()
            outputs = engine.step()
            block[arm] = clock() - start
            if len(outputs) != batch:
                raise RuntimeError(f"a step of batch {batch} gave {len(outputs)} tokens")
        blocks.append(block)
    switch.turn(on=False)
    return Timed(blocks, answers(engine))


def rest(llm: Any, switch: Switch, batch: int, longest: int, *, on: bool) -> Answers:  # noqa: ANN401 - vLLM's
    """Decode ``batch`` sequences up to the model's length, all on or all off."""
    switch.turn(on=on)
    ask(llm.llm_engine, batch, longest)
    try:
        return answers(llm.llm_engine)
    finally:
        switch.turn(on=False)


def ask(engine: Any, batch: int, longest: int) -> int:  # noqa: ANN401 - vLLM's
    """Add the requests of a batch; how many tokens each gets."""
    from vllm import SamplingParams  # noqa: PLC0415 - imported already

    tokens = longest - PROMPT_TOKENS - 1
    parameters = SamplingParams(temperature=0, ignore_eos=True, max_tokens=tokens)
    for number in range(batch):
        prompt = [1 + (number * PROMPT_TOKENS + place) % 200 for place in range(PROMPT_TOKENS)]
        engine.add_request(str(number), {"prompt_token_ids": prompt}, parameters)
    return tokens


def answers(engine: Any) -> Answers:  # noqa: ANN401 - vLLM's
    """Run to the end; token ids by request."""
    found = {}
    while engine.has_unfinished_requests():
        for each in engine.step():
            found[int(each.request_id)] = list(each.outputs[0].token_ids)
    return [found[number] for number in sorted(found)]
