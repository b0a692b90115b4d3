"""Serve requests in an engine that records its picks: ``record_picks.py SPEC``, a JSON file.

Run by path with the lane's Python. SPEC has ``model``; ``engine`` (keyword arguments of ``vllm.LLM``);
``requests``, a list of ``prompt`` (text or token ids), ``max_tokens``, ``temperature`` and ``seed``;
``at_once``, how many are asked together; and ``result``, the file for what came of it: of each request the
tokens of its prompt, those that the prefix cache had and those of its answer; the usage; and how the
recording stands. Lines that begin with ``arm`` tell how far it is.
"""

import json
import sys
from pathlib import Path
from typing import Any

# Python leaves the script's own folder out of its path when it runs safely.
sys.path.append(str(Path(__file__).parent))

import shims
from amx import ask_for_tiles


def main(spec_file: str) -> None:
    """Boot, serve, and write what came of it."""
    spec = json.loads(Path(spec_file).read_text())
    ask_for_tiles()
    shims.apply()
    from vllm import LLM  # noqa: PLC0415 - half a minute that a wrong call need not pay

    llm = LLM(model=spec["model"], **spec["engine"])
    requests, at_once = spec["requests"], spec["at_once"]
    asked: list[dict[str, int]] = []
    for start in range(0, len(requests), at_once):
        asked += answered(llm, requests[start : start + at_once])
        sys.stdout.write(f"arm record: {len(asked)} of {len(requests)} requests\n")
        sys.stdout.flush()
    usage, recorded = (
        llm.collective_rpc(each) for each in ("expert_bank_usage", "expert_bank_recorded")
    )
    found = {"asked": asked, "usage": usage, "recorded": recorded}
    Path(spec["result"]).write_text(json.dumps(found))


def answered(llm: Any, requests: list[dict[str, Any]]) -> list[dict[str, int]]:  # noqa: ANN401 - vLLM's
    """Ask some requests together; every answer has all of its tokens, stop tokens or not."""
    from vllm import SamplingParams  # noqa: PLC0415 - imported already

    prompts = [
        each["prompt"] if isinstance(each["prompt"], str) else {"prompt_token_ids": each["prompt"]}
        for each in requests
    ]
    wanted = [
        SamplingParams(
            temperature=each["temperature"],
            seed=each["seed"],
            max_tokens=each["max_tokens"],
            ignore_eos=True,
        )
        for each in requests
    ]
    return [
        {
            "prompt": len(each.prompt_token_ids),
            "cached": each.num_cached_tokens or 0,
            "answer": len(each.outputs[0].token_ids),
        }
        for each in llm.generate(prompts, wanted, use_tqdm=False)
    ]


if __name__ == "__main__":
    main(*sys.argv[1:])
