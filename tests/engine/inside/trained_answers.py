"""vLLM serves a trained model: ``trained_answers.py SPEC``, a list of jobs.

A job has ``engine``, ``prompts``, ``max_tokens`` and ``texts``, by kind. It gives back ``loss``, by kind, of
the engine's own logprobs in nats a token, and the greedy ``answers`` as ``ids`` and ``text``.
"""

import sys
from typing import Any

import forks
from windows import spread


def run(job: forks.Job) -> dict[str, Any]:
    """Boot the engine, read the texts, and answer the prompts."""
    import vllm  # noqa: PLC0415 - imported by the parent

    llm = vllm.LLM(model=job["model"], **job["engine"])
    tokenizer = llm.get_tokenizer()
    greedy = vllm.SamplingParams(temperature=0, max_tokens=job["max_tokens"], ignore_eos=True)
    answers = [request.outputs[0] for request in llm.generate(job["prompts"], greedy)]
    return {
        "loss": {kind: loss(llm, tokenizer.encode(text)) for kind, text in job["texts"].items()},
        "answers": [{"ids": list(each.token_ids), "text": each.text} for each in answers],
    }


def loss(llm: Any, ids: list[int]) -> float:  # noqa: ANN401 - vllm.LLM
    """Mean over windows of a text."""
    import vllm  # noqa: PLC0415 - imported by the parent

    windows = [{"prompt_token_ids": each} for each in spread(ids)]
    read = vllm.SamplingParams(temperature=0, max_tokens=1, prompt_logprobs=0)
    found = [
        told[token].logprob
        for request in llm.generate(windows, read)
        for token, told in zip(
            request.prompt_token_ids[1:], request.prompt_logprobs[1:], strict=True
        )
    ]
    mean: float = -sum(found) / len(found)
    return mean


if __name__ == "__main__":
    forks.run_all(run, *sys.argv[1:])
