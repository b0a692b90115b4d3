"""What is asked of a counting engine; each is a function of a bench, by its name in ``ALL``."""

import random

from bench import Asked, Bench
from vllm import SamplingParams

# Around the sizes of a block (32), of a chunk (64) and of powers of two.
LENGTHS = (1, 2, 3, 15, 16, 17, 31, 63, 64, 65, 100, 127, 128, 129, 199, 200)
ORDINARY = 500  # token ids below the special ones


def prompts(lengths: tuple[int, ...], seed: str) -> list[list[int]]:
    """Draw prompts; no two scenarios share one, so the prefix cache has none of them yet."""
    source = random.Random(seed)  # noqa: S311 - no secret
    return [[source.randrange(ORDINARY) for _ in range(length)] for length in lengths]


def one_at_a_time(bench: Bench) -> list[Asked]:
    """Every length alone."""
    return [
        asked for prompt in prompts(LENGTHS, "one") for asked in bench.ask([prompt], max_tokens=3)
    ]


def every_length(bench: Bench) -> list[Asked]:
    """Every prompt of 1 to 200 tokens, alone."""
    return [
        asked
        for prompt in prompts(tuple(range(1, 201)), "every")
        for asked in bench.ask([prompt], max_tokens=2)
    ]


def eight_at_once(bench: Bench) -> list[Asked]:
    """Every second length at once."""
    return bench.ask(prompts(LENGTHS[1::2], "eight"), max_tokens=40)


def sixteen_at_once(bench: Bench) -> list[Asked]:
    """Every length at once, the longest first and long answers, so that all decode together."""
    return bench.ask(prompts(LENGTHS[::-1], "sixteen"), max_tokens=64)


def chunked_prefill(bench: Bench) -> list[Asked]:
    """Prompts that do not fit into one step."""
    return bench.ask(prompts((200, 199, 129, 100), "chunked"), max_tokens=5)


def prefix_cache_hits(bench: Bench) -> list[Asked]:
    """The same prompts twice, the second time all at once."""
    asked = prompts((200, 128, 97, 65), "cached")
    first = [found for prompt in asked for found in bench.ask([prompt], max_tokens=4)]
    return first + bench.ask(asked, max_tokens=4)


def stop_tokens(bench: Bench) -> list[Asked]:
    """First to the full length, then again with one of the answer's own tokens as stop token."""
    asked = prompts((1, 16, 17, 65, 100, 129, 199, 200), "stop")
    full = bench.ask(asked, max_tokens=32)
    stopped = [
        found
        for prompt, answer in zip(asked, full, strict=True)
        for found in bench.ask([prompt], max_tokens=32, stop_token_ids=answer.ids[0][5:16])
    ]
    return full + stopped


def stop_tokens_at_once(bench: Bench) -> list[Asked]:
    """Answers that end by stop at different steps of one batch."""
    asked = prompts((1, 16, 17, 65, 100, 129, 199, 200), "stop at once")
    full = bench.ask(asked, max_tokens=32)
    common = sorted({token for answer in full for token in answer.ids[0][4::6]})
    return full + bench.ask(asked, max_tokens=32, stop_token_ids=common)


def preemption(bench: Bench) -> list[Asked]:
    """More than the key-value cache holds."""
    return bench.ask(prompts((200,) * 16, "preempted"), max_tokens=150)


def prefill_alone(bench: Bench) -> list[Asked]:
    """Answers of one token: no decode step at all."""
    return bench.ask(prompts(LENGTHS, "prefill"), max_tokens=1)


def several_answers(bench: Bench) -> list[Asked]:
    """Three samples a prompt; shorter than a block, so that they share nothing."""
    return bench.ask(prompts((1, 17, 31), "several"), n=3, max_tokens=9, temperature=1.0)


def aborted(bench: Bench) -> list[Asked]:
    """Half of the requests are aborted while they decode."""
    engine = bench.llm.llm_engine
    seen: dict[str, Asked] = {}
    for number, prompt in enumerate(prompts(LENGTHS[::2], "aborted")):
        parameters = SamplingParams(temperature=0, ignore_eos=True, max_tokens=60)
        engine.add_request(f"aborted-{number}", {"prompt_token_ids": prompt}, parameters)
    dropped = False
    while engine.has_unfinished_requests():
        for output in engine.step():
            seen[output.request_id] = Asked.read(output)
        if not dropped and len(seen) == len(LENGTHS[::2]):
            dropped = True
            engine.abort_request(list(seen)[::2])
    return list(seen.values())


ALL = {
    scenario.__name__: scenario
    for scenario in (
        one_at_a_time,
        every_length,
        eight_at_once,
        sixteen_at_once,
        chunked_prefill,
        prefix_cache_hits,
        stop_tokens,
        stop_tokens_at_once,
        preemption,
        prefill_alone,
        several_answers,
        aborted,
    )
}
