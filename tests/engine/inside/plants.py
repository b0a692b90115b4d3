"""Ways in which vLLM could be, and two banks could not: each alters vLLM's own classes.

Run with the lane's Python, before an engine comes up.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial, wraps
from types import SimpleNamespace
from typing import Any

import torch
from refusals import attribute, replace_experts


def behind(owner: type, name: str, then: Callable[..., None]) -> None:
    """Have something done behind every call of a method, with its arguments."""
    inner = getattr(owner, name)

    @wraps(inner)
    def outer(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - vLLM's
        given = inner(*args, **kwargs)
        then(*args, **kwargs)
        return given

    setattr(owner, name, outer)


def method() -> type:
    """vLLM's quantisation method of the lane's layers."""
    from vllm.model_executor.layers.fused_moe.unquantized_fused_moe_method import (  # noqa: PLC0415
        UnquantizedFusedMoEMethod,
    )

    found: type = UnquantizedFusedMoEMethod
    return found


def repacked(then: Callable[[Any, Any], None]) -> Callable[[], None]:
    """A plant behind a layer's repack; it is given the method and the layer."""
    return lambda: behind(method(), "process_weights_after_loading", then)


def as_parameter(layer: Any, name: str, rows: torch.Tensor) -> None:  # noqa: ANN401 - vLLM's
    """Give a layer a parameter, in place of the one of that name if there is one."""
    layer.register_parameter(name, torch.nn.Parameter(rows, requires_grad=False))


def rounded_up() -> None:
    """Host memory of the next power of two, as a pinned allocator takes it."""
    from expert_bank.host_memory import HostMemory  # noqa: PLC0415 - of the lane's tree

    exact, name = HostMemory.map, "map"

    def rounded(memory: HostMemory, length: int) -> Any:  # noqa: ANN401 - HostPages
        pages = exact(memory, 1 << (length - 1).bit_length())
        pages.view()[:] = bytes(pages.asked)
        return pages

    setattr(HostMemory, name, rounded)


def monolithic() -> None:
    """A kernel of vLLM's that routes inside."""
    from vllm.model_executor.layers.fused_moe.experts.trtllm_bf16_moe import (  # noqa: PLC0415
        TrtLlmBf16ExpertsMonolithic,
    )

    def choose(self: Any, *_: Any) -> None:  # noqa: ANN401 - the same
        self.experts_cls = TrtLlmBf16ExpertsMonolithic

    behind(method(), "__init__", choose)


def monolithic_at_last(self: Any, _layer: Any) -> None:  # noqa: ANN401 - the same
    """The same, chosen when the layer is repacked."""
    self.moe_kernel = SimpleNamespace(is_monolithic=True)


def odd_parameter() -> None:
    """A parameter with a row more than there are experts."""

    def more(_self: Any, layer: Any, num_experts: int, *_: Any, **__: Any) -> None:  # noqa: ANN401
        as_parameter(layer, "w2_extra", torch.zeros(num_experts + 1, 4))

    behind(method(), "create_weights", more)


def flat(_self: Any, layer: Any) -> None:  # noqa: ANN401 - the same
    """Rows that have become one string of numbers."""
    as_parameter(layer, "w2_weight", layer.w2_weight.data.reshape(-1))


def strided(_self: Any, layer: Any) -> None:  # noqa: ANN401 - the same
    """Rows that do not lie one after another."""
    as_parameter(layer, "w2_weight", layer.w2_weight.data.transpose(1, 2))


def gone(_self: Any, layer: Any) -> None:  # noqa: ANN401 - the same
    """Rows that are packed into something that is no parameter."""
    layer.packed = layer.w13_weight.data.reshape(-1), layer.w2_weight.data.reshape(-1)
    del layer.w13_weight, layer.w2_weight


def kept(self: Any, layer: Any) -> None:  # noqa: ANN401 - the same
    """A view of the rows that the kernel keeps for itself."""
    self.kept = layer.w13_weight.data[1:]


def unlisted(_self: Any, layer: Any) -> None:  # noqa: ANN401 - the same
    """A number of each expert, beside the parameters."""
    layer.register_buffer("row_scale", torch.arange(16.0), persistent=False)


def shared() -> None:
    """Layers that have one parameter together."""
    first: list[Any] = []

    def share(_self: Any, layer: Any) -> None:  # noqa: ANN401 - the same
        first.append(layer)
        layer.w2_weight = first[0].w2_weight

    repacked(share)()


def in_last_block(alter: Callable[[Any], AbstractContextManager[None]]) -> Callable[[], None]:
    """A plant around the building of the model's last block; it is given vLLM's configuration."""

    def plant() -> None:
        from vllm.model_executor.models.qwen3_moe import Qwen3MoeSparseMoeBlock  # noqa: PLC0415

        inner = Qwen3MoeSparseMoeBlock.__init__

        def outer(self: Any, vllm_config: Any, prefix: str = "", **kwargs: Any) -> None:  # noqa: ANN401
            last = "layers.3." in prefix
            with alter(vllm_config.model_config.hf_text_config) if last else nullcontext():
                inner(self, vllm_config, prefix, **kwargs)

        Qwen3MoeSparseMoeBlock.__init__ = outer

    return plant


def uneven(name: str, value: int) -> Callable[[], None]:
    """The last layer has another number of something than the others."""
    return in_last_block(partial(attribute, name=name, value=value))


@contextmanager
def vllms_own(_config: Any) -> Iterator[None]:  # noqa: ANN401 - vLLM's
    """A layer that is vLLM's own class, whatever a plugin wants it to be."""
    from vllm.model_executor.custom_op import op_registry_oot  # noqa: PLC0415

    ours = op_registry_oot.pop("RoutedExperts")
    try:
        yield
    finally:
        op_registry_oot["RoutedExperts"] = ours


PLANTS: dict[str, Callable[[], None]] = {
    "monolithic": monolithic,
    "monolithic_at_last": repacked(monolithic_at_last),
    "odd_parameter": odd_parameter,
    "flat": repacked(flat),
    "strided": repacked(strided),
    "gone": repacked(gone),
    "kept": repacked(kept),
    "unlisted": repacked(unlisted),
    "shared": shared,
    "foreign": in_last_block(vllms_own),
    "rival": replace_experts,
    "rounded_up": rounded_up,
    "uneven_picks": uneven("num_experts_per_tok", 3),
    "uneven_experts": uneven("num_experts", 8),
}
