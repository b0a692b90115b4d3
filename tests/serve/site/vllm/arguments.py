"""What can be set; our hook patches add fields."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class EngineArgs:
    model: str = ""
    max_model_len: int = 512
    tensor_parallel_size: int = 1
    enforce_eager: bool = False
    enable_prefix_caching: bool = True
    worker_cls: str = "vllm.v1.worker.cpu_worker.CPUWorker"
    worker_extension_cls: str = ""
    lies: dict[str, Any] = field(default_factory=dict)
