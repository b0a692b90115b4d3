"""Layers of vLLM's routed experts in two allocations, as on a CUDA device, in the CPU's memory.

The load, the banks, the binding and the forward are those of a CUDA lane; ``TRITON_INTERPRET=1``
has Triton's interpreter run the kernels. Of vLLM two things are told otherwise: that its backend
for plain weights is Triton's, and that host memory was registered.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from unittest.mock import patch

import torch
from vllm.config import CompilationConfig, VllmConfig, set_current_vllm_config
from vllm.forward_context import set_forward_context
from vllm.model_executor.layers.fused_moe import unquantized_fused_moe_method as unquantized
from vllm.model_executor.layers.fused_moe.activation import MoEActivation
from vllm.model_executor.layers.fused_moe.config import (
    FusedMoEConfig,
    FusedMoEParallelConfig,
    RoutingMethodType,
)
from vllm.model_executor.layers.fused_moe.expert_map_manager import ExpertMapManager
from vllm.model_executor.layers.fused_moe.experts.triton_moe import TritonExperts
from vllm.model_executor.layers.fused_moe.oracle.unquantized import UnquantizedMoeBackend

from expert_bank.config import BankConfig
from expert_bank.glue.banked import BankedExperts
from expert_bank.glue.current import loading
from expert_bank.glue.loading import Loading
from expert_bank.plan import Mode
from expert_bank.staging.room import stage_room
from expert_bank.two_allocations import TwoAllocations
from expert_bank.two_bank import TwoBank

E, K, WIDTH, INNER = 8, 3, 64, 32
CPU = torch.device("cpu")
# ``tl.dot`` of bfloat16 is wrong in the interpreter.
DTYPE = torch.float16


@dataclass
class Model:
    """Layers that are loaded, and what was loaded.

    Attributes:
        layers: vLLM's, ours mixed in.
        two_bank: Theirs.
        w13: [E, 2N, K] of each layer, as the checkpoint has it.
        w2: [E, K, N] of each layer.
    """

    layers: list[BankedExperts]
    two_bank: TwoBank
    w13: list[torch.Tensor]
    w2: list[torch.Tensor]

    def forward(self, layer: int, x: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        """Run a layer within a step, as its runner does."""
        weights = torch.rand(ids.shape, generator=torch.Generator().manual_seed(3))
        with (
            self.two_bank.counter.step(len(ids)),
            set_forward_context(None, VllmConfig()),
        ):
            found: torch.Tensor = self.layers[layer].forward_modular(x, weights, ids)
        return found


def model(
    hot: Sequence[int],
    mode: Mode,
    *,
    dtype: torch.dtype = DTYPE,
    poison: bool = False,
    boot: str = "first",
    stage: str = "",
    lay: Callable[[Loading], None] | None = None,
) -> Model:
    """Build layers, load each from a checkpoint of random weights, and bind them.

    ``lay`` says where banks are allocated; in two allocations, unless given.
    """
    source = torch.Generator().manual_seed(19)
    asked = ",".join(map(str, hot))
    settings = BankConfig(asked, mode, boot, poison, 0.0, None, prefill_stage=stage)
    load = Loading(settings, worker(), lambda _line: None)
    (lay or in_two_allocations)(load)
    w13 = [torch.randn(E, 2 * INNER, WIDTH, generator=source).to(dtype) / 8 for _ in hot]
    w2 = [torch.randn(E, WIDTH, INNER, generator=source).to(dtype) / 8 for _ in hot]
    with set_current_vllm_config(VllmConfig()), loading(load):
        layers = [built(number, dtype) for number in range(len(hot))]
        for number, layer in enumerate(layers):
            for expert in range(E):
                gate, up = w13[number][expert].chunk(2)
                for weight, shard in ((gate, "w1"), (up, "w3")):
                    layer.weight_loader(layer.w13_weight, weight, "w13_weight", shard, expert)
                layer.weight_loader(layer.w2_weight, w2[number][expert], "w2_weight", "w2", expert)
            layer.quant_method.process_weights_after_loading(layer)
    return Model(layers, load.whole(lambda: None), w13, w2)


def in_two_allocations(load: Loading) -> None:
    """Lay banks out as on a CUDA device; a CPU's is one."""
    spec, hot = load.config.prefill_stage, map(int, load.config.hot_experts.split(","))
    cold = [E - each for each in hot]
    rows = stage_room(spec, cold=cold, row_bytes=[1] * len(cold)).rows if spec else 0
    load.banks.allocate = two_allocations(rows)
    load.banks.lay_out = lambda layout: None  # type: ignore[method-assign]  # noqa: ARG005 - its name
    # The CPU is the device here, and the hot rows are no part of the host's.
    load.banks._on_host = lambda hot, cold: cold  # type: ignore[method-assign]  # noqa: ARG005, SLF001


def two_allocations(stage: int) -> TwoAllocations:
    """Make what allocates in the CPU's memory, with so many rows to stage to."""
    return TwoAllocations(CPU, register=lambda *_: 0, unregister=lambda *_: 0, stage=stage)


def worker() -> SimpleNamespace:
    """Make what a load asks of vLLM's worker: no layer of it has a KV cache."""
    served = SimpleNamespace(model="random", revision=None, max_model_len=64)
    return SimpleNamespace(
        device=CPU,
        vllm_config=SimpleNamespace(
            model_config=served,
            load_config=SimpleNamespace(safetensors_load_strategy=None),
            compilation_config=CompilationConfig(),
            scheduler_config=SimpleNamespace(max_num_batched_tokens=64),
        ),
        model_runner=SimpleNamespace(get_kv_cache_spec=dict),
    )


def built(number: int, dtype: torch.dtype = DTYPE) -> BankedExperts:
    """Build one layer, of Triton's backend."""
    alone = FusedMoEParallelConfig.make_no_parallel()
    config = FusedMoEConfig(
        num_experts=E,
        experts_per_token=K,
        hidden_dim=WIDTH,
        intermediate_size=INNER,
        num_local_experts=E,
        num_logical_experts=E,
        activation=MoEActivation.SILU,
        device="cpu",
        routing_method=RoutingMethodType.Renormalize,
        moe_parallel_config=alone,
        in_dtype=dtype,
    )
    experts = ExpertMapManager(64, K, E, 0, None, alone, "linear", enable_eplb=False)
    chosen = UnquantizedMoeBackend.TRITON, TritonExperts
    with patch.object(unquantized, "select_unquantized_moe_backend", lambda **_: chosen):
        return BankedExperts(f"model.layers.{number}.experts", dtype, config, None, experts)
