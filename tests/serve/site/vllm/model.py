from collections.abc import Iterator
from typing import Any

from vllm.model_executor.layers.fused_moe import routed_experts

LAYERS = ("model.layers.0.mlp.experts", "model.layers.1.mlp.experts", "model.layers.2.mlp.experts")


class Model:
    def __init__(self, *, deaf: bool) -> None:
        plain = routed_experts.DeafExperts if deaf else routed_experts.RoutedExperts
        self.layers = [(*routed_experts.built, plain)[0](name) for name in LAYERS]

    def modules(self) -> Iterator[Any]:
        yield self
        yield from self.layers

    def forward(self, state: int, token: int) -> int:
        """Take one token into the state, through every layer."""
        state = routed_experts.mix(state, token)
        for layer in self.layers:
            state = layer.forward(state)
        return int(state)


class ModelRunner:
    def __init__(self, model: Model) -> None:
        self.model = model

    def get_model(self) -> Model:
        return self.model
