"""Boot one engine after another and answer greedily: ``arms.py SPEC``, a JSON file.

Run by path with the lane's Python. vLLM is imported once, which is most of what a boot costs; each
engine is in a fork of that, so that none sees what another left behind. SPEC holds ``cores``: which of
the cores that this process may use it keeps to, counted from 0, or None for all; and ``arms``, a list of:
``name``; ``model``; ``engine`` (keyword arguments of ``vllm.LLM``); ``prompts``; ``max_tokens``;
``exact`` (whether to keep logprobs, as the bits of their float32); ``workers`` (whether to ask the
worker extension); ``continues`` (whether the engine of the arm before is asked, as it is then, and
none booted); ``calls`` (what to ask of the extension before the prompts: method and arguments);
``maps`` (file with usage whose most picked experts are made hot behind that, or None);
``together`` (how many prompts to ask at once, one run each, behind the run that asks one at a
time); ``keeps`` (file for the usage, as a boot map, or None); ``exchange`` (whether to answer again
with two experts' rows exchanged); ``result`` (file for what happened); ``note`` (what to note once
all that is on disk, see ``finished.py``, or None). Shims that the environment names are applied
first, alike for every arm. Lines that begin with ``arm`` tell how far it is.
"""

import json
import os
import platform
import struct
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Python leaves the script's own folder out of its path when it runs safely.
sys.path.append(str(Path(__file__).parent))

import captures
import finished
import memory
import shims
import tactics
from amx import ask_for_tiles

if TYPE_CHECKING:
    import torch
    import vllm

TOLD_EVERY = 11


def main(spec_file: str) -> None:
    """Run every arm; end with status 1 after the first that fails."""
    spec = json.loads(Path(spec_file).read_text())
    arms = spec["arms"]
    # Before vLLM counts them.
    keep_to(spec["cores"])
    start = time.perf_counter()
    # In the process that every arm is forked from.
    ask_for_tiles()
    shims.apply()
    # Imported here because how long it takes is part of the result.
    import torch  # noqa: F401, PLC0415

    # vllm itself is little: what an engine is made of comes with the first name taken from it.
    from vllm import LLM, SamplingParams  # noqa: F401, PLC0415

    captures.count()
    tactics.share()
    imported = round(time.perf_counter() - start, 3)
    for engine in by_engine(arms):
        tell(engine[0], f"starts, {arms.index(engine[0]) + 1} of {len(arms)}")
        if status := forked(engine, imported):
            tell(engine[0], "failed")
            sys.exit(status)


def by_engine(arms: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Put arms together that one engine answers; the first boots it, whatever it would continue."""
    engines: list[list[dict[str, Any]]] = []
    for arm in arms:
        if arm["continues"] and engines:
            engines[-1].append(arm)
        else:
            engines.append([arm])
    return engines


def keep_to(cores: list[int] | None) -> None:
    """Leave cores to others: two engines on the same ones wait for each other in spinning loops."""
    if cores is not None:
        mine = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, [mine[each] for each in cores])


def forked(arms: list[dict[str, Any]], imported: float) -> int:
    """Run the arms of an engine in a child process; its exit status, 128 + N for signal N."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            run(arms, imported)
            status = 0
        except BaseException:  # noqa: BLE001 - a fork must not run its parent's code
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            # vLLM leaves threads behind that would keep an ordinary exit waiting.
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status if status >= 0 else 128 - status


def run(arms: list[dict[str, Any]], imported: float) -> None:
    """Boot an engine, have it answer arm by arm, and write what happened of each."""
    import vllm  # noqa: PLC0415 - imported by the parent already

    first = arms[0]
    read = finished.boot_map_read(first["engine"])
    tuned = tactics.read()
    # An engine binds its own threads, this one too.
    cores = len(os.sched_getaffinity(0))
    start = time.perf_counter()
    llm = vllm.LLM(model=first["model"], **first["engine"])
    seconds = {"import": imported, "engine": round(time.perf_counter() - start, 3)}
    tell(first, "engine up")
    up = captures.captured
    earlier: dict[str, Any] = {"tokens": 0, "banks": []}
    for arm in arms:
        if arm is not first:
            tell(arm, "goes on in the same engine")
            seconds = {"import": 0.0, "engine": 0.0}
        result = answered(llm, arm)
        alone = worker_is_here(llm)
        result |= {
            "tactics": tactics.told(tuned),
            "graphs": {"up": up, "ended": captures.captured} if alone else None,
            "memory": llm.collective_rpc(memory.of_worker)[0] if alone else None,
        }
        result |= {"cores": cores, "seconds": {**seconds, **result["seconds"]}, "earlier": earlier}
        finished.write_whole(Path(arm["result"]), json.dumps(result).encode())
        finished.note(arm, read)
        earlier = {"tokens": earlier["tokens"] + computed(result), "banks": result["banks"]}


def worker_is_here(llm: "vllm.LLM") -> bool:
    """Whether the only worker is in this process: several have processes of their own."""
    parallel = getattr(llm.llm_engine.vllm_config, "parallel_config", None)
    return getattr(parallel, "world_size", 1) == 1


def answered(llm: "vllm.LLM", arm: dict[str, Any]) -> dict[str, Any]:
    """Answer an arm's prompts and ask the workers; all that is told of it but what went before."""
    import torch  # noqa: PLC0415 - imported by the parent already
    import vllm  # noqa: PLC0415 - the same

    start = time.perf_counter()
    require_room(llm, arm)
    for method, arguments in arm["calls"]:
        llm.collective_rpc(method, args=tuple(arguments))
    if arm["maps"]:
        make_hot(llm, Path(arm["maps"]))
    completions = answers(llm, arm)
    together = {
        str(count): answers(llm, arm, f", {count} at once", at_once=count)
        for count in arm["together"]
    }
    done = time.perf_counter()
    rpc = llm.collective_rpc if arm["workers"] else lambda _: []
    result = {
        "vllm": vllm.__version__,
        "vllm_file": vllm.__file__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "compiled": llm.llm_engine.vllm_config.compilation_config.mode.name != "NONE",
        "seconds": {"generate": round(done - start, 3)},
        "completions": completions,
        "together": together,
        "status": rpc("expert_bank_status"),
        "usage": rpc("expert_bank_usage"),
        "banks": rpc("expert_bank_banks"),
        "moe": llm.apply_model(moe),
        "exchange": None,
    }
    # An arm that counts nothing proves nothing, and that is for its proof to tell.
    if arm["keeps"] and any(result["usage"]):
        usage = json.dumps(boot_map([*filter(None, result["usage"])]))
        finished.write_whole(Path(arm["keeps"]), usage.encode())
    if arm["exchange"]:
        (layer,) = llm.apply_model(exchange)
        exchanged = answers(llm, arm, ", rows exchanged")
        result["exchange"] = {"layer": layer, "completions": exchanged}
    return result


def computed(result: dict[str, Any]) -> int:
    """Tokens that an arm's answers needed: what a counter of picks has more behind them."""
    passes = [result["completions"], *result["together"].values()]
    passes += [result["exchange"]["completions"]] if result["exchange"] else []
    return sum(
        each["prompt_tokens"] + len(each["ids"]) - 1 - each["cached_tokens"]
        for one in passes
        for each in one
    )


def make_hot(llm: "vllm.LLM", usage: Path) -> None:
    """Make the most picked experts hot, as many as are hot now.

    Raises:
        ValueError: Workers have different layers, so that no list is one for all.
    """
    maps = llm.collective_rpc("expert_bank_map")
    layers = [tuple(told["layers"]) for told in llm.collective_rpc("expert_bank_usage")]
    if len(set(layers)) != 1:
        raise ValueError(
            f"{len(set(layers))} groups of layers on {len(maps)} workers: one map fits none"
        )
    counts = json.loads(usage.read_text())["layers"]
    hot = [
        sorted(sorted(range(len(counts[name])), key=lambda e: -counts[name][e])[: len(now)])
        for name, now in zip(layers[0], maps[0], strict=True)
    ]
    llm.collective_rpc("expert_bank_map", args=(hot,))


def require_room(llm: "vllm.LLM", arm: dict[str, Any]) -> None:
    """Refuse answers that vLLM would cut short.

    Raises:
        ValueError: The longest prompt and an answer are longer together than the engine takes.
    """
    most, tokens = arm["engine"].get("max_model_len"), arm["max_tokens"]
    encode = llm.get_tokenizer().encode
    lengths = [len(encode(prompt)) for prompt in arm["prompts"]]
    longest = max(lengths)
    if most is not None and longest + tokens > most:
        raise ValueError(
            f"prompt {lengths.index(longest) + 1} has {longest} tokens, and an answer of {tokens}"
            f" behind it does not fit max_model_len {most}: say at most {most - longest} in"
            " [equality] tokens, or more in [engine] max_model_len"
        )


def answers(
    llm: "vllm.LLM", arm: dict[str, Any], how: str = "", *, at_once: int = 1
) -> list[dict[str, Any]]:
    """Complete every prompt, ``at_once`` in a batch: what else is in it may change the last bits.

    ``how`` tells one pass from another in the lines that tell how far it is.
    """
    from vllm import SamplingParams  # noqa: PLC0415 - imported by the parent already

    # A stop token would leave it to the scheduler how many tokens were computed.
    parameters = SamplingParams(
        temperature=0,
        max_tokens=arm["max_tokens"],
        ignore_eos=True,
        logprobs=2 if arm["exact"] else None,
    )
    prompts = arm["prompts"]
    given = []
    batches = range(0, len(prompts), at_once)
    outputs = (
        (prompt, output)
        for start in batches
        for prompt, output in zip(
            prompts[start : start + at_once],
            llm.generate(prompts[start : start + at_once], parameters, use_tqdm=False),
            strict=True,
        )
    )
    for number, (prompt, output) in enumerate(outputs, 1):
        completion = output.outputs[0]
        answer: dict[str, Any] = {
            "prompt": prompt,
            "prompt_tokens": len(output.prompt_token_ids),
            "cached_tokens": output.num_cached_tokens or 0,
            "ids": list(completion.token_ids),
            "text": completion.text,
        }
        if arm["exact"]:
            places = list(zip(answer["ids"], completion.logprobs, strict=True))
            answer["bits"] = [bits(found[chosen].logprob) for chosen, found in places]
            answer["likeliest"] = [likeliest(found) for _, found in places]
        given.append(answer)
        if number % TOLD_EVERY == 0:
            tell(arm, f"{number} of {len(arm['prompts'])} prompts{how}")
    return given


def boot_map(usages: list[dict[str, Any]]) -> dict[str, Any]:
    """Put the workers' counts together as ``expert_bank.usage_file`` reads them."""
    layers = {
        name: counts
        for usage in usages
        for name, counts in zip(usage["layers"], usage["counts"], strict=True)
    }
    return {"schema": 1, "model": usages[0]["model"], "layers": layers}


def bits(logprob: float) -> int:
    """Give the bits of a float32 that was widened to a Python float."""
    (whole,) = struct.unpack("<I", struct.pack("<f", logprob))
    return int(whole)


def likeliest(found: dict[int, Any]) -> list[tuple[int, int]]:
    """List the two likeliest tokens with their logprobs' bits, likeliest first."""
    ordered = sorted((-each.logprob, token) for token, each in found.items())
    return [(token, bits(found[token].logprob)) for _, token in ordered[:2]]


def experts_of(model: "torch.nn.Module") -> list[Any]:
    """List a model's MoE layers, by vLLM's own class."""
    from vllm.model_executor.layers.fused_moe.routed_experts import (  # noqa: PLC0415 - the same
        RoutedExperts,
    )

    return [each for each in model.modules() if isinstance(each, RoutedExperts)]


def moe(model: "torch.nn.Module") -> dict[str, int]:
    """Count a model's MoE layers, their experts and how many of them a token gets."""
    layers = experts_of(model)
    shapes = {(each.global_num_experts, each.top_k) for each in layers}
    experts, k = shapes.pop() if len(shapes) == 1 else (0, 0)
    return {"layers": len(layers), "experts": experts, "picks_per_token": k}


def exchange(model: "torch.nn.Module") -> str:
    """Exchange all rows of the first and the last expert in the middle MoE layer; its name."""
    layers = experts_of(model)
    layer = layers[len(layers) // 2]
    for rows in layer.get_expert_weights():
        first = rows[0].clone()
        rows[0].copy_(rows[-1])
        rows[-1].copy_(first)
    return str(layer.layer_name)


def tell(arm: dict[str, Any], what: str) -> None:
    """Say how far an arm is."""
    print(f"arm {arm['name']}: {what}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
