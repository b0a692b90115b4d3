"""A stand-in for vLLM with a model of its own: a few integers, the same on every machine."""

import atexit
import enum
import os
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from vllm.arguments import EngineArgs
from vllm.engine import Engine
from vllm.lies import lies_of

__version__ = "9.9.9"
told = {name: value for name, value in os.environ.items() if name.startswith("VLLM_")}
if "late" in lies_of({}):
    # Forks end without it; the process that imported vLLM does not.
    atexit.register(os._exit, lies_of({})["late"])
print("vLLM is imported with", told)  # noqa: T201 - read in the log


class Mode(enum.Enum):
    NONE = 0
    DYNAMO_TRACE_ONCE = 2


@dataclass
class SamplingParams:
    temperature: float
    max_tokens: int
    ignore_eos: bool = False
    logprobs: int | None = None


class LLM:
    def __init__(self, **arguments: object) -> None:
        self.engine = Engine(EngineArgs(**arguments))
        eager = arguments.get("enforce_eager") or "uncompiled" in self.engine.lies
        compilation = SimpleNamespace(mode=Mode.NONE if eager else Mode.DYNAMO_TRACE_ONCE)
        if not eager:
            self.engine.capture()
        parallel = SimpleNamespace(world_size=len(self.engine.workers))
        config = SimpleNamespace(compilation_config=compilation, parallel_config=parallel)
        self.llm_engine = SimpleNamespace(vllm_config=config)

    def generate(
        self,
        prompts: list[str],
        parameters: SamplingParams,
        use_tqdm: bool,  # noqa: ARG002, FBT001 - vLLM's
    ) -> list[SimpleNamespace]:
        if len(prompts) > 1:
            print(len(prompts), "prompts at once")  # noqa: T201 - read in the log
        return [
            self.engine.complete(prompt, parameters.max_tokens, ignore_eos=parameters.ignore_eos)
            for prompt in prompts
        ]

    def get_tokenizer(self) -> SimpleNamespace:
        return SimpleNamespace(encode=str.encode)

    def collective_rpc(
        self, method: str | Callable[..., Any], args: tuple[Any, ...] = ()
    ) -> list[Any]:
        if callable(method):
            return [method(worker, *args) for worker in self.engine.workers]
        return [getattr(worker, method)(*args) for worker in self.engine.workers]

    def apply_model(self, function: Callable[[Any], Any]) -> list[Any]:
        return [function(worker.model_runner.get_model()) for worker in self.engine.workers]
