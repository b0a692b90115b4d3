"""Schedules requests one at a time, with a prefix cache."""

import importlib
import importlib.metadata
import os
import time
from types import SimpleNamespace
from typing import Any

import torch

from vllm.lies import lies_of
from vllm.sampler import EOS, sample

BLOCK = 16


def named(path: str) -> type:
    module, _, name = path.rpartition(".")
    found: type = getattr(importlib.import_module(module), name)
    return found


class Engine:
    """Engines made so far in this process are counted: forks must not see each other's."""

    made = 0

    def __init__(self, arguments: Any) -> None:  # noqa: ANN401 - EngineArgs, patched or not
        Engine.made += 1
        self.lies = lies_of(arguments.lies)
        if "dies" in self.lies:
            raise SystemExit("the stand-in engine was told to die")
        if "mapless" in self.lies and arguments.moe_boot_map != "first":
            raise SystemExit("the stand-in engine was told to take no map")
        if "hangs" in self.lies:
            print("the stand-in engine was told to hang", flush=True)  # noqa: T201 - a test waits
            time.sleep(600)
        if "killed" in self.lies:
            os.kill(os.getpid(), self.lies["killed"])
        for plugin in importlib.metadata.entry_points(group="vllm.general_plugins"):
            plugin.load()()
        self.tune(arguments)
        self.caching = arguments.enable_prefix_caching or "caches" in self.lies
        self.cache: dict[tuple[int, ...], int] = {(): 0}
        self.requests = 0
        self.counting = self.lies.get("counter", getattr(arguments, "moe_usage_counter", None))
        self.on = self.counting or getattr(arguments, "moe_hot_experts", "")
        self.workers = [self.worker(arguments) for _ in range(arguments.tensor_parallel_size)]

    def worker(self, arguments: Any) -> Any:  # noqa: ANN401 - the same
        offload = SimpleNamespace()
        if self.counting is not None:
            offload.moe_usage_counter = self.counting
        for name in ("moe_hot_experts", "moe_cold_rows", "moe_boot_map"):
            if hasattr(arguments, name):
                setattr(offload, name, getattr(arguments, name))
        if "hot" in self.lies:
            offload.moe_hot_experts = self.lies["hot"]
        wanted = "vllm.v1.worker.cpu_worker.CPUWorker" if "foreign" in self.lies else ""
        bases = [named(wanted or arguments.worker_cls)]
        if arguments.worker_extension_cls:
            bases.append(named(arguments.worker_extension_cls))
        if "replaced" in self.lies:
            importlib.import_module("expert_bank.glue.experts").install()
        config = SimpleNamespace(
            offload_config=offload,
            model_config=SimpleNamespace(model=arguments.model),
            lies=self.lies,
        )
        worker = type("Worker", tuple(bases), {})(config)
        worker.load_model()
        return worker

    def tune(self, arguments: Any) -> None:  # noqa: ANN401 - the same
        if "tunes" not in self.lies:
            return
        on = getattr(arguments, "moe_usage_counter", False) or getattr(
            arguments, "moe_hot_experts", ""
        )
        more = ["hot", "cold"] if on else []
        tuner = importlib.import_module("vllm.model_executor.warmup.flashinfer_autotune_cache")
        anew = bool(self.lies.get("retunes") and on)
        tuner.tune(arguments, [*self.lies["tunes"], *more], anew=anew)

    def capture(self) -> None:
        for _ in range(self.lies.get("graphs", 0)):
            torch.cuda.CUDAGraph().capture_begin()

    def complete(self, prompt: str, max_tokens: int, *, ignore_eos: bool) -> SimpleNamespace:
        self.requests += 1
        if self.lies.get("recaptures") == self.requests and self.on:
            self.capture()
        tokens = list(prompt.encode())
        cached = self.cached(tokens)
        state = self.prefill(tokens, cached)
        ids: list[int] = []
        logprobs: list[dict[int, Any]] = []
        while True:
            token, found = sample(state, self.requests, len(ids), self.lies, on=bool(self.on))
            ids.append(token)
            logprobs.append(found)
            if len(ids) == self.length(max_tokens) or (token == EOS and not ignore_eos):
                break
            (state,) = self.step(state, [token])
        text = f"{len(ids)} tokens of engine {Engine.made}"
        answer = SimpleNamespace(token_ids=ids, text=text, logprobs=logprobs)
        return SimpleNamespace(
            prompt_token_ids=tokens,
            num_cached_tokens=cached if self.caching else None,
            outputs=[answer],
        )

    def length(self, max_tokens: int) -> int:
        prompt, length = self.lies.get("short", (0, 0))
        return length if prompt == self.requests else max_tokens

    def cached(self, tokens: list[int]) -> int:
        """How many tokens of a prompt, in whole blocks, were computed before; never the last."""
        return next(
            length
            for length in range((len(tokens) - 1) // BLOCK * BLOCK, -1, -BLOCK)
            if tuple(tokens[:length]) in self.cache
        )

    def prefill(self, tokens: list[int], cached: int) -> int:
        states = self.step(self.cache[tuple(tokens[:cached])], tokens[cached:])
        if self.caching:
            for length in range(cached + BLOCK, len(tokens) + 1, BLOCK):
                self.cache[tuple(tokens[:length])] = states[length - cached - 1]
        return states[-1]

    def step(self, state: int, tokens: list[int]) -> list[int]:
        scheduled = SimpleNamespace(
            total_num_scheduled_tokens=len(tokens),
            tokens=tokens,
            state=state,
            request=self.requests,
        )
        first, *_ = [worker.execute_model(scheduled) for worker in self.workers]
        return [*first]
