"""Boot vLLM in this process and answer greedily: ``offline.py SPEC RESULT``, both JSON files.

Run by path with the lane's Python. SPEC holds ``model``, ``engine`` (keyword arguments of
``vllm.LLM``), ``prompts``, ``max_tokens`` and ``status`` (whether to ask the worker extension).
"""

import json
import platform
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import vllm


def main(spec_file: str, result_file: str) -> None:
    """Boot, answer, ask the workers, and write what happened."""
    spec = json.loads(Path(spec_file).read_text())
    marks = [time.perf_counter()]
    # Imported here because how long it takes is part of the result.
    import torch  # noqa: PLC0415
    import vllm  # noqa: PLC0415

    marks.append(time.perf_counter())
    llm = vllm.LLM(model=spec["model"], **spec["engine"])
    marks.append(time.perf_counter())
    greedy = vllm.SamplingParams(temperature=0, max_tokens=spec["max_tokens"])
    # One at a time: what else is in a batch may change the last bits.
    completions = [answer(llm, prompt, greedy) for prompt in spec["prompts"]]
    marks.append(time.perf_counter())
    status = llm.collective_rpc("expert_bank_status") if spec["status"] else []
    steps = zip(("import", "engine", "generate"), marks, marks[1:], strict=False)
    result = {
        "vllm": vllm.__version__,
        "vllm_file": vllm.__file__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "seconds": {name: round(end - start, 3) for name, start, end in steps},
        "completions": completions,
        "status": status,
    }
    Path(result_file).write_text(json.dumps(result))


def answer(llm: "vllm.LLM", prompt: str, greedy: "vllm.SamplingParams") -> dict[str, Any]:
    """Complete one prompt."""
    output = llm.generate([prompt], greedy, use_tqdm=False)[0]
    ids = list(output.outputs[0].token_ids)
    return {"prompt": prompt, "ids": ids, "text": output.outputs[0].text}


if __name__ == "__main__":
    main(*sys.argv[1:])
