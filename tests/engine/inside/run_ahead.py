"""Asynchronous scheduling on a CPU, where vLLM switches it off: its scheduler, no CUDA stream."""

from contextlib import nullcontext
from typing import Any

import torch
from vllm.platforms.cpu import CpuPlatform


class Nothing:
    """A CUDA stream or event where all work is done as it is enqueued."""

    def __init__(self, *_: object, **__: object) -> None:
        self.device = torch.device("cpu")

    def wait_stream(self, *_: object) -> None:
        """Nothing is waited for."""

    def record(self, *_: object) -> None:
        """The same."""

    def synchronize(self) -> None:
        """The same."""


def force() -> None:
    """Switch it on for every engine that this process makes from here on."""
    checked = CpuPlatform.check_and_update_config

    def ahead(_: type[CpuPlatform], config: Any) -> None:  # noqa: ANN401 - vLLM's
        checked(config)
        config.scheduler_config.async_scheduling = True

    CpuPlatform.check_and_update_config = classmethod(ahead)
    torch.cuda.Stream = torch.cuda.Event = Nothing
    torch.cuda.current_stream = Nothing
    torch.cuda.stream = nullcontext
