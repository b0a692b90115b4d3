"""Serve traffic that switches, with a map that follows it: ``traffic_switch.py SPEC``.

SPEC has ``model``, ``engine``, ``learn`` and ``phases`` (lists of a kind of the model's held-out text,
the part of it to serve, from where to where, 0 to 1, and how many tokens), ``follow`` (settings),
``seed``, ``stats`` (file) and ``result``. The first engine serves ``learn``, and what it counts is the
boot map of the second, which serves the phases. No two parts have a seed in common. Every pick is kept,
so that other policies can be tried on the same traffic.
"""

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

PROMPT, ANSWER, AT_ONCE = 64, 64, 16
# From the seeds of one part of the traffic to those of the next; more than it has answers.
SEEDS = 2**20
Part = tuple[str, float, float]


def in_forks(parts: Sequence[Callable[[dict[str, Any]], None]], spec_file: str) -> None:
    """Run engines one after the other, each in a fork, for one process has room for one."""
    import vllm  # noqa: F401, PLC0415 - half a minute that a wrong call need not pay

    spec = json.loads(Path(spec_file).read_text())
    for part in parts:
        if (child := os.fork()) == 0:
            status = 1
            try:
                part(spec)
                status = 0
            finally:
                sys.stdout.flush()
                os._exit(status)
        if os.waitpid(child, 0)[1]:
            sys.exit(1)


def learn(spec: dict[str, Any]) -> None:
    """Count the picks of what the boot map is to be of, and write them as one."""
    from vllm import LLM  # noqa: PLC0415 - imported by the parent already

    llm = LLM(model=spec["model"], **spec["engine"])
    serve(llm, spec["model"], spec["learn"], spec["seed"])
    (usage,) = llm.collective_rpc("expert_bank_usage")
    layers = dict(zip(usage["layers"], usage["counts"], strict=True))
    written = {"schema": 1, "model": usage["model"], "layers": layers}
    Path(f"{spec['result']}.usage").write_text(json.dumps(written))


def follow(spec: dict[str, Any]) -> None:
    """Serve the phases, and write the picks, and what was swapped when."""
    from vllm import LLM  # noqa: PLC0415 - imported by the parent already

    picks = Picks()
    os.environ["EXPERT_BANK_STATS"] = spec["stats"]
    llm = LLM(model=spec["model"], **{**spec["engine"], "moe_boot_map": f"{spec['result']}.usage"})
    worker = llm.llm_engine.model_executor.driver_worker.worker
    picks.counter = worker.pick_counter
    boot = [state.nonzero()[0].tolist() for state in worker.two_bank.boot]
    llm.collective_rpc("expert_bank_follow", args=(spec["follow"],))
    barriers = watched(worker)
    ends = []
    for number, phase in enumerate(spec["phases"], 1):
        serve(llm, spec["model"], phase, spec["seed"] + number * SEEDS)
        ends.append(worker.pick_counter.tokens)
    (told,) = llm.collective_rpc("expert_bank_banks")
    if told["audit"] or told["failures"]:
        raise RuntimeError(f"{told['audit']} {told['failures']}")
    found = {
        "ids": picks.write(f"{spec['result']}.npy"),
        "experts": worker.two_bank.table.host.shape[2],
        "picks": worker.pick_counter.picks_per_token,
        "boot": boot,
        "barriers": barriers,
        "ends": ends,
        "hot_rows": told["hot_rows"],
        "row_bytes": told["row_bytes"],
        "cold_picks": told["cold_picks"],
        "follows": told["follows"],
        "seconds": told["seconds"],
    }
    Path(spec["result"]).write_text(json.dumps(found))


class Picks:
    """Every scheduled pick of every layer, by vLLM's own capture function.

    Made before the model is.
    """

    def __init__(self) -> None:
        from vllm.model_executor.layers.fused_moe.router.base_router import (  # noqa: PLC0415 - the same
            BaseRouter,
        )

        self.layers: list[list[Any]] = []
        self.counter: Any = None
        made = BaseRouter.__init__

        def hooked(router: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - vLLM's
            made(router, *args, **kwargs)
            kept: list[Any] = []
            self.layers.append(kept)
            router.set_capture_fn(lambda ids: self._keep(kept, ids))

        BaseRouter.__init__ = hooked

    def _keep(self, kept: list[Any], ids: Any) -> None:  # noqa: ANN401 - torch's
        if self.counter is not None and (tokens := int(self.counter.scheduled)):
            kept.append(ids[:tokens].numpy().astype("int16"))

    def write(self, file: str) -> str:
        """Write int16[T, L, k]; its name."""
        import numpy as np  # noqa: PLC0415 - the same

        np.save(file, np.stack([np.concatenate(kept) for kept in self.layers], axis=1))
        return file


def watched(worker: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - vLLM's
    """Note every decision of a worker's policy from here on."""
    policy, noted = worker.two_bank.following.policy, []
    decide = policy.step

    def step(counts: Any, hot: Any, budget: int) -> Any:  # noqa: ANN401 - NumPy's
        swaps = decide(counts, hot, budget)
        noted.append(
            {
                "forward": worker.two_bank.barrier.totals.forwards,
                "token": worker.pick_counter.tokens,
                "swaps": [[each.layer, each.promote, each.demote] for each in swaps],
                "trusted": policy.guard.trusted,
            }
        )
        return swaps

    policy.step = step
    return noted


def serve(llm: Any, model: str, phase: tuple[str, float, float, int], seed: int) -> None:  # noqa: ANN401 - vLLM's
    """Serve text, piece by piece, each of which is gone on with; by sampling: greedy tokens repeat."""
    from vllm import SamplingParams  # noqa: PLC0415 - the same

    kind, start, stop, tokens = phase
    pieces = iter(held_out(llm, model, (kind, start, stop)))
    done = 0
    while done < tokens:
        prompts = [
            {"prompt_token_ids": piece} for piece, _ in zip(pieces, range(AT_ONCE), strict=False)
        ]
        if len(prompts) < AT_ONCE:
            raise RuntimeError(
                f"held-out {kind}, {start} to {stop} of it, has text for {done} tokens, and"
                f" {tokens} are to be served: ask for fewer with --tokens"
            )
        wanted = [
            SamplingParams(
                temperature=1.0, seed=seed + done + number, max_tokens=ANSWER, ignore_eos=True
            )
            for number in range(AT_ONCE)
        ]
        llm.generate(prompts, wanted, use_tqdm=False)
        done += AT_ONCE * (PROMPT + ANSWER - 1)
    print(f"arm {kind}: {done} tokens", flush=True)


def held_out(llm: Any, model: str, part: Part) -> list[list[int]]:  # noqa: ANN401 - the same
    """Cut text that training held out into prompts; what is left over is left out.

    Args:
        llm: Has the tokenizer.
        model: Folder of the model.
        part: ``python`` or ``english``, and from where to where, 0 to 1.
    """
    kind, start, stop = part
    text = Path(model, "held_out", f"{kind}.txt").read_text()
    ids = llm.get_tokenizer().encode(text[int(start * len(text)) : int(stop * len(text))])
    return [ids[place : place + PROMPT] for place in range(0, len(ids) - PROMPT + 1, PROMPT)]


if __name__ == "__main__":
    in_forks((learn, follow), *sys.argv[1:])
