"""Count bytes of cold rows, staged and in place, over prompt lengths and maps: ``staged_bytes.py SPEC``.

SPEC has ``model``; ``engine`` (keyword arguments of ``vllm.LLM``); ``lengths`` of prompts; ``prompts``
of each; ``settle`` (tokens that are served under a map first, so that its share is known); ``seed``;
``result``. Each prompt is one step, without an answer's second token.
"""

import json
import random
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ORDINARY = 500
LEARNT = 64
Banks = Mapping[str, Any]


def count(spec: dict[str, Any]) -> None:
    """Serve every length under every map: in place, staged, and as the engine decides."""
    from vllm import LLM  # noqa: PLC0415 - its import is long, and told

    llm = LLM(model=spec["model"], **spec["engine"])
    rng = random.Random(spec["seed"])  # noqa: S311 - no secret
    experts = llm.llm_engine.model_executor.driver_worker.worker.two_bank.table.host.shape[2]
    found = []
    for name, hot in maps(llm, rng).items():
        llm.collective_rpc("expert_bank_map", args=(hot,))
        llm.collective_rpc("expert_bank_stage", args=(True, "bytes"))
        serve(llm, prompts(rng, spec["settle"] // LEARNT, LEARNT))
        for length in spec["lengths"]:
            asked = prompts(rng, spec["prompts"], length)
            found.append({"map": name, "length": length, **measured(llm, asked)})
    told = banks(llm)
    if told["audit"] or told["staging"]["off"]:
        raise RuntimeError(f"{told['audit']} {told['staging']['off']}")
    whole = {
        "rows": found,
        "experts": experts,
        "slots": [*told["staging"]["slots"].values()],
        "row_bytes": told["row_bytes"],
        "picks": llm.llm_engine.model_executor.driver_worker.worker.pick_counter.picks_per_token,
    }
    Path(spec["result"]).write_text(json.dumps(whole))


def maps(llm: Any, rng: random.Random) -> dict[str, list[list[int]]]:  # noqa: ANN401 - vLLM's
    """By name the hot experts of each layer: those picked most, the boot's, and those picked least."""
    (boot,) = llm.collective_rpc("expert_bank_map")
    serve(llm, prompts(rng, LEARNT, LEARNT))
    (usage,) = llm.collective_rpc("expert_bank_usage")
    ranked = [sorted(range(len(each)), key=each.__getitem__)[::-1] for each in usage["counts"]]
    pairs = [*zip(ranked, boot, strict=True)]
    return {
        "most used": [each[: len(hot)] for each, hot in pairs],
        "as booted": boot,
        "least used": [each[-len(hot) :] for each, hot in pairs],
    }


def measured(llm: Any, asked: list[list[int]]) -> dict[str, Any]:  # noqa: ANN401 - the same
    """Serve prompts in three ways; what each did."""
    found: dict[str, Any] = {}
    for arm, (wanted, least) in {
        "in_place": (False, None),
        "staged": (True, 1),
        "decided": (True, "bytes"),
    }.items():
        llm.collective_rpc("expert_bank_stage", args=(wanted, least))
        before = banks(llm)
        serve(llm, asked)
        after = banks(llm)
        was, now = before["staging"], after["staging"]
        found[arm] = {
            "steps": after["forwards"] - before["forwards"],
            "picks": sum(after[f"{b}_picks"] - before[f"{b}_picks"] for b in ("hot", "cold")),
            "cold_picks": after["cold_picks"] - before["cold_picks"],
            "staged_steps": now["steps"] - was["steps"],
            "staged_bytes": now["bytes"] - was["bytes"],
            "below": now["refused"]["below_threshold"] - was["refused"]["below_threshold"],
        }
        if arm == "decided":
            found["least"] = [was["least_tokens"], now["least_tokens"]]
            found["share"] = [was["cold_share"], now["cold_share"]]
    return found


def banks(llm: Any) -> Banks:  # noqa: ANN401 - the same
    """Ask the one worker."""
    (found,) = llm.collective_rpc("expert_bank_banks")
    told: Banks = found
    return told


def serve(llm: Any, asked: list[list[int]]) -> None:  # noqa: ANN401 - the same
    """Compute prompts, a step each."""
    from vllm import SamplingParams  # noqa: PLC0415 - the same

    once = SamplingParams(temperature=0, max_tokens=1, ignore_eos=True)
    for each in asked:
        llm.generate([{"prompt_token_ids": each}], once, use_tqdm=False)


def prompts(rng: random.Random, number: int, length: int) -> list[list[int]]:
    """Draw prompts."""
    return [rng.choices(range(ORDINARY), k=length) for _ in range(number)]


if __name__ == "__main__":
    count(json.loads(Path(*sys.argv[1:]).read_text()))
