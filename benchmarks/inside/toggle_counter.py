"""Time decode steps of one engine with the usage counter on and off: ``toggle_counter.py SPEC``.

Run by path with the lane's Python. SPEC is a JSON file with ``model``, ``engine``, ``blocks``,
``batches``, ``seed`` and ``result``. A block is three arms in random order: counter on, off, and
off again as the self control. Off means what a lane without the counter has: the layers' class is
vLLM's own, and the worker passes its steps on. Each arm is two steps, of which the second is timed:
in the first, Python's own caches still hold the other class, which no lane ever pays for.
"""

import json
import random
import sys
import time
from pathlib import Path
from typing import Any

ARMS = ("on", "off", "self")
PROMPT_TOKENS = 8


def main(spec_file: str) -> None:
    """Boot, time every batch size, check the counts, and write the times."""
    import vllm  # noqa: PLC0415 - half a minute that a wrong call need not pay

    spec = json.loads(Path(spec_file).read_text())
    llm = vllm.LLM(model=spec["model"], **spec["engine"])
    switch = Switch(llm.llm_engine.model_executor.driver_worker.worker)
    rng = random.Random(spec["seed"])  # noqa: S311 - order of steps, no secret
    times = {}
    for batch in spec["batches"]:
        blocks: list[dict[str, float]] = []
        while len(blocks) < spec["blocks"]:
            blocks += generation(llm, switch, rng, batch, spec["engine"]["max_model_len"])
            print(f"arm batch-{batch}: {len(blocks)} of {spec['blocks']} blocks", flush=True)
        times[batch] = blocks
    counted, expected = switch.picks()
    if counted != expected or not counted:
        raise RuntimeError(f"{counted} picks counted, and {expected} in the steps that were on")
    result = {"times": times, "layers": len(switch.layers), "picks": counted}
    Path(spec["result"]).write_text(json.dumps(result))


class Switch:
    """Turns the counter of a worker on and off between two steps."""

    def __init__(self, worker: Any) -> None:  # noqa: ANN401 - vLLM's
        from expert_bank.glue.experts import CountedExperts  # noqa: PLC0415 - imports vLLM

        self.worker = worker
        self.counter = worker.pick_counter
        modules = worker.model_runner.get_model().modules()
        self.layers = [each for each in modules if isinstance(each, CountedExperts)]
        self.counting, (self.plain, *_) = CountedExperts, CountedExperts.__bases__

    def turn(self, *, on: bool) -> None:
        """Give the layers our class or vLLM's, and the worker its counter or none."""
        self.worker.pick_counter = self.counter if on else None
        for layer in self.layers:
            layer.__class__ = self.counting if on else self.plain

    def picks(self) -> tuple[int, int]:
        """What was counted, and what the steps that were on scheduled."""
        counter = self.counter
        expected = counter.tokens * counter.picks_per_token * len(counter.layers)
        return int(counter.snapshot().sum()), expected


def generation(
    llm: Any,  # noqa: ANN401 - vLLM's
    switch: Switch,
    rng: random.Random,
    batch: int,
    longest: int,
) -> list[dict[str, float]]:
    """Decode ``batch`` sequences up to the model's length; seconds of each step, by block."""
    from vllm import SamplingParams  # noqa: PLC0415 - imported already

    engine = llm.llm_engine
    parameters = SamplingParams(
        temperature=0, ignore_eos=True, max_tokens=longest - PROMPT_TOKENS - 1
    )
    for number in range(batch):
        tokens = [1 + (number * PROMPT_TOKENS + place) % 200 for place in range(PROMPT_TOKENS)]
        engine.add_request(f"{rng.random()}", {"prompt_token_ids": tokens}, parameters)
    switch.turn(on=False)
    # Prefill is no decode step, and the first steps after it are still warming up.
    for _ in range(4):
        engine.step()
    blocks = []
    steps = (parameters.max_tokens - 6) // (2 * len(ARMS))
    for _ in range(steps):
        block = {}
        for arm in rng.sample(ARMS, len(ARMS)):
            switch.turn(on=arm == "on")
            engine.step()
            start = time.perf_counter()
            outputs = engine.step()
            block[arm] = time.perf_counter() - start
            if len(outputs) != batch:
                raise RuntimeError(f"a step of batch {batch} gave {len(outputs)} tokens")
        blocks.append(block)
    switch.turn(on=False)
    while engine.has_unfinished_requests():
        engine.step()
    return blocks


if __name__ == "__main__":
    main(*sys.argv[1:])
