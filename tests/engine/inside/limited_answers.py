"""Answers of an engine in a memory group, from its first import on: ``limited_answers.py SPEC``.

SPEC has ``model``; ``engine`` (keyword arguments of ``vllm.LLM``); ``prompts``; ``max_tokens``;
``result``; and ``members``, the file that takes this process into the group, or null.
"""

import json
import os
import sys
from pathlib import Path


def main(spec_file: str) -> None:
    """Join, boot, answer."""
    spec = json.loads(Path(spec_file).read_text())
    if spec["members"]:
        Path(spec["members"]).write_text(str(os.getpid()))
    # It counts whole GiB, each as much as the limit, and goes before ``kv_cache_memory_bytes``.
    os.environ.pop("VLLM_CPU_KVCACHE_SPACE", None)
    from load_rss import resident  # noqa: PLC0415 - what it imports is the group's, too
    from vllm import LLM, SamplingParams  # noqa: PLC0415 - the same

    llm = LLM(model=spec["model"], **spec["engine"])
    parameters = SamplingParams(temperature=0, max_tokens=spec["max_tokens"], ignore_eos=True)
    answers = llm.generate(spec["prompts"], parameters, use_tqdm=False)
    anonymous, _ = resident()
    told = {"ids": [list(each.outputs[0].token_ids) for each in answers], "anonymous": anonymous}
    if "moe_hot_experts" in spec["engine"]:
        (told["banks"],) = llm.collective_rpc("expert_bank_banks")
    Path(spec["result"]).write_text(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1])
    sys.stdout.flush()
    sys.stderr.flush()
    # vLLM leaves threads behind that would keep an ordinary exit waiting.
    os._exit(0)
