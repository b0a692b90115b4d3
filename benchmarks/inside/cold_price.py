"""Time decode steps whose cold rows come from a disk, under three maps: ``cold_price.py SPEC``.

SPEC is as that of ``traffic_switch.py``, with ``followed`` in the place of phases: what the map follows;
``kinds`` (``matched`` and ``switched``: a kind of text, and the part of it that is timed, from where to
where); ``blocks``; ``steps`` of each arm of a block. A block is four arms in random order: matched
traffic under the boot map, switched traffic under it, the same once more as self control, and
switched traffic under the map that following came to. Setting a map is not timed, and none moves
while it is.
"""

import json
import random
import sys
import time
from pathlib import Path
from typing import Any

import traffic_switch as switch

ARMS = {
    "matched": ("matched", "boot"),
    "fixed": ("switched", "boot"),
    "self": ("switched", "boot"),
    "moved": ("switched", "moved"),
}
# Prefill is no decode step, and the first steps after it are still warming up.
WARM_UP = 3


def price(spec: dict[str, Any]) -> None:
    """Follow the switched traffic, then time all arms, block by block."""
    from vllm import LLM  # noqa: PLC0415 - imported by the parent already

    llm = LLM(model=spec["model"], **{**spec["engine"], "moe_boot_map": f"{spec['result']}.usage"})
    worker = llm.llm_engine.model_executor.driver_worker.worker
    (boot,) = llm.collective_rpc("expert_bank_map")
    llm.collective_rpc("expert_bank_follow", args=(spec["follow"],))
    kinds = spec["kinds"]
    switch.serve(llm, spec["model"], spec["followed"], spec["seed"] + switch.SEEDS)
    (moved,) = llm.collective_rpc("expert_bank_map")
    (followed,) = llm.collective_rpc("expert_bank_banks")
    scheduled = worker.pick_counter.tokens
    llm.collective_rpc("expert_bank_follow", args=(None,))
    maps = {"boot": boot, "moved": moved}
    texts = {name: switch.held_out(llm, spec["model"], kind) for name, kind in kinds.items()}
    rng = random.Random(spec["seed"])  # noqa: S311 - order of arms, no secret
    blocks = []
    seed = spec["seed"] + 2 * switch.SEEDS
    for number in range(spec["blocks"]):
        found: dict[str, Any] = {}
        for arm in rng.sample([*ARMS], len(ARMS)):
            kind, chosen = ARMS[arm]
            llm.collective_rpc("expert_bank_map", args=(maps[chosen],))
            prompt = texts[kind][number % len(texts[kind])]
            found[arm] = timed(llm, worker, prompt, spec["steps"], seed + number)
        answers = [found[arm].pop("ids") for arm in ("fixed", "self", "moved")]
        if answers != answers[:1] * len(answers):
            raise RuntimeError("answers hang on where the rows are")
        found["matched"].pop("ids")
        blocks.append(found)
        print(f"arm price: {number + 1} of {spec['blocks']} blocks", flush=True)
    (told,) = llm.collective_rpc("expert_bank_banks")
    if told["audit"] or told["failures"]:
        raise RuntimeError(f"{told['audit']} {told['failures']}")
    result = {
        "blocks": blocks,
        "layers": len(told["hot_rows"]),
        "experts": worker.two_bank.table.host.shape[2],
        "hot_rows": told["hot_rows"],
        "row_bytes": told["row_bytes"],
        "swaps": followed["swaps"],
        "maps": maps,
        "picks": worker.pick_counter.picks_per_token,
        "tokens": scheduled,
        "forwards": followed["forwards"],
        "follows": followed["follows"],
        "file": told["file"],
    }
    Path(spec["result"]).write_text(json.dumps(result))


def timed(llm: Any, worker: Any, prompt: list[int], steps: int, seed: int) -> dict[str, Any]:  # noqa: ANN401 - the same
    """Decode one sequence; seconds, cold picks and bytes from disk of all timed steps together."""
    from vllm import SamplingParams  # noqa: PLC0415 - the same

    from expert_bank.disk_reads import read_bytes  # noqa: PLC0415 - not before the lane's path

    engine = llm.llm_engine
    parameters = SamplingParams(
        temperature=1.0, seed=seed, ignore_eos=True, max_tokens=WARM_UP + steps
    )
    engine.add_request(f"{seed}", {"prompt_token_ids": prompt}, parameters)
    for _ in range(WARM_UP):
        engine.step()
    picks, read, start = cold(worker), read_bytes(), time.perf_counter()
    outputs: list[Any] = []
    for _ in range(steps):
        outputs = engine.step()
    seconds = time.perf_counter() - start
    # Whatever is read to count them is no part of it.
    read = read_bytes() - read
    if len(outputs) != 1 or not outputs[0].finished or engine.has_unfinished_requests():
        raise RuntimeError("a step gave another number of tokens")
    return {
        "seconds": seconds,
        "cold": cold(worker) - picks,
        "read": read,
        "ids": list(outputs[0].outputs[0].token_ids),
    }


def cold(worker: Any) -> int:  # noqa: ANN401 - the same
    """Cold picks so far."""
    return int(worker.pick_counter.by_bank()[:, 1].sum())


if __name__ == "__main__":
    switch.in_forks((switch.learn, price), *sys.argv[1:])
