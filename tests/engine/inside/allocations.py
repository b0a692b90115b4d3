"""What torch's operators allocate while a model is loaded, by layer and stage, and what is alive.

The stages are vLLM's own, in which a layer is raw and is repacked, and ours around them: an expert's
weight is loaded, a layer's banks are filled, its rows are summed. Each allocation belongs to the
innermost; what belongs to none is beside the experts, as the other weights are.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts
from vllm.model_executor.layers.fused_moe.unquantized_fused_moe_method import (
    UnquantizedFusedMoEMethod,
)
from vllm.model_executor.layers.quantization.mxfp4 import Mxfp4MoEMethod

METHODS = (UnquantizedFusedMoEMethod, Mxfp4MoEMethod)
RAW, REPACKED, GATHERED, BANKED, SUMMED, OTHER = (
    "raw",
    "repacked",
    "gathered",
    "banked",
    "summed",
    "other",
)
# What sums are made of is no row, and what is in no stage is no expert's.
NO_ROWS = (SUMMED, OTHER)


def stages() -> Iterator[tuple[object, str, str]]:
    """Yield what is called in each stage: its owner, its name there, the stage."""
    for method in METHODS:
        yield method, "create_weights", RAW
        yield method, "process_weights_after_loading", REPACKED
    yield RoutedExperts, "weight_loader", GATHERED
    try:
        from expert_bank.glue import banked, layer_banks, loading  # noqa: PLC0415 - not in an unpatched tree
    except ImportError:
        return
    yield banked.BankedExperts, "weight_loader", GATHERED
    yield loading.Loading, "_fill", BANKED
    yield layer_banks, "tensor_sums", SUMMED


@dataclass(frozen=True)
class Block:
    """Memory that an operator allocated.

    Attributes:
        layer: That was loaded; empty outside of the stages.
        stage: In which it was allocated.
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
        peak: The most bytes of experts that were alive at once: of all stages but ``NO_ROWS``.
        made_of: What the peak was made of: bytes by stage and layer.
        alive: The most bytes that were alive at once, by the stage in which they were allocated.
        most: The most layers that had something alive at once, by stage.
    """

    def __init__(self, least: int) -> None:
        super().__init__()
        self.least = least
        self.peak = 0
        self.made_of: dict[str, dict[str, int]] = {}
        self.alive: dict[str, int] = {}
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
        """Record while the block runs, by stage."""
        with ExitStack() as stack:
            for owner, name, stage in stages():
                staged = self._staged(getattr(owner, name), stage)
                stack.enter_context(patch.object(owner, name, staged))
            stack.enter_context(self)
            yield

    def _staged(self, real: Callable[..., Any], stage: str) -> Callable[..., Any]:
        def staged(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever it takes and gives
            given = (*args, *kwargs.values())
            named = (each.layer_name for each in given if hasattr(each, "layer_name"))
            self._at.append((next(named, self._at[-1][0]), stage))
            try:
                return real(*args, **kwargs)
            finally:
                self._at.pop()

        return staged

    def _record(self, storage: torch.UntypedStorage) -> None:
        alive = [each for each in self._blocks if not each.life.expired()]
        self._blocks = [*alive, Block(*self._at[-1], storage.nbytes(), StorageWeakRef(storage))]
        held: dict[str, dict[str, int]] = {}
        for each in self._blocks:
            of_stage = held.setdefault(each.stage, {})
            of_stage[each.layer] = of_stage.get(each.layer, 0) + each.size
        for stage, layers in held.items():
            self.most[stage] = max(self.most.get(stage, 0), len(layers))
            self.alive[stage] = max(self.alive.get(stage, 0), sum(layers.values()))
        rows = {stage: layers for stage, layers in held.items() if stage not in NO_ROWS}
        experts = sum(sum(layers.values()) for layers in rows.values())
        if experts > self.peak:
            self.peak, self.made_of = experts, rows


def _storages(values: object) -> list[torch.UntypedStorage]:
    """Find the host memory that values lie in."""
    found = []
    for each in tree_leaves(values):
        if isinstance(each, torch.Tensor) and each.device.type == "cpu":
            found.append(each.untyped_storage())
        elif isinstance(each, torch.UntypedStorage):
            found.append(each)
    return found
