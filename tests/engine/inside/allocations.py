"""Every large allocation that torch's operators make, by layer and stage, and which are alive."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any
from unittest.mock import patch

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from vllm.model_executor.layers.fused_moe.unquantized_fused_moe_method import (
    UnquantizedFusedMoEMethod,
)
from vllm.model_executor.layers.quantization.mxfp4 import Mxfp4MoEMethod

# What vLLM itself calls to make a layer's experts, and to repack them.
STAGES = {"create_weights": "raw", "process_weights_after_loading": "repacked"}
METHODS = (UnquantizedFusedMoEMethod, Mxfp4MoEMethod)
OTHER = "other"


@dataclass(frozen=True)
class Block:
    """Memory that an operator allocated.

    Attributes:
        layer: That vLLM was at; empty outside of the stages.
        stage: ``raw``, ``repacked`` or ``other``.
        size: Bytes.
        life: Tells, without holding the memory, whether it is still held by anyone.
    """

    layer: str
    stage: str
    size: int
    life: StorageWeakRef


class Allocations(TorchDispatchMode):  # type: ignore[misc]  # mypy does not see torch
    """Watches the operators of the thread that enters it.

    The sum of what is alive can only grow where something is allocated, so its greatest value is
    seen there. Memory that an operator's output shares with its inputs is none: views, and what was
    mapped by others, as the banks and a checkpoint's file are.

    Attributes:
        least: Bytes that an allocation needs to be recorded.
        seen: How many were.
        peak: The most bytes of experts, raw and repacked, that were alive at once.
        made_of: What the peak was made of: bytes by stage and layer.
        scratch: The most bytes beside them.
        most: The most layers that had something alive at once, by stage.
    """

    def __init__(self, least: int) -> None:
        super().__init__()
        self.least = least
        self.seen = 0
        self.peak = 0
        self.scratch = 0
        self.made_of: dict[str, dict[str, int]] = {}
        self.most: dict[str, int] = {}
        self._at: list[tuple[str, str]] = [("", OTHER)]
        self._blocks: list[Block] = []

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401 - torch's operator
        types: Any,  # noqa: ANN401 - torch's signature
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the operator gives
        """Run an operator, and record what it allocated."""
        given = kwargs or {}
        out = func(*args, **given)
        before = {each.data_ptr() for each in _storages((args, given))}
        for storage in _storages(out):
            if storage.nbytes() >= self.least and storage.data_ptr() not in before:
                self._record(storage)
        return out

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Record while the block runs, by vLLM's own stages."""
        with ExitStack() as stack:
            for method, (name, stage) in product(METHODS, STAGES.items()):
                staged = self._staged(method, name, stage)
                stack.enter_context(patch.object(method, name, staged))
            stack.enter_context(self)
            yield

    def _staged(self, of: type, name: str, stage: str) -> Callable[..., None]:
        real = getattr(of, name)

        def staged(method: object, layer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
            self._at.append((layer.layer_name, stage))
            try:
                real(method, layer, *args, **kwargs)
            finally:
                self._at.pop()

        return staged

    def _record(self, storage: torch.UntypedStorage) -> None:
        self.seen += 1
        alive = [each for each in self._blocks if not each.life.expired()]
        self._blocks = [*alive, Block(*self._at[-1], storage.nbytes(), StorageWeakRef(storage))]
        held: dict[str, dict[str, int]] = {}
        for each in self._blocks:
            of_stage = held.setdefault(each.stage, {})
            of_stage[each.layer] = of_stage.get(each.layer, 0) + each.size
        for stage, layers in held.items():
            self.most[stage] = max(self.most.get(stage, 0), len(layers))
        scratch = sum(held.pop(OTHER, {}).values())
        self.scratch = max(self.scratch, scratch)
        experts = sum(each.size for each in self._blocks) - scratch
        if experts > self.peak:
            self.peak, self.made_of = experts, held


def _storages(values: object) -> list[torch.UntypedStorage]:
    """Find the host memory that values lie in."""
    found = []
    for each in tree_leaves(values):
        if isinstance(each, torch.Tensor) and each.device.type == "cpu":
            found.append(each.untyped_storage())
        elif isinstance(each, torch.UntypedStorage):
            found.append(each)
    return found
