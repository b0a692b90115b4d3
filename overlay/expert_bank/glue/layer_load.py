# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Creates, gathers and repacks the experts of one layer, when its turn comes."""

from collections.abc import Callable
from typing import Any

import torch
from vllm.model_executor.layers.fused_moe.fused_moe_method_base import FusedMoEMethodBase

from expert_bank.glue.mxfp4_repack import in_parts_on, repacks_in_parts
from expert_bank.refused import Refused

Layer = Any  # vLLM's RoutedExperts
SHOWN = 8


class LayerLoad:
    """Stands between a layer and its quantisation method until the layer's rows are in the banks.

    The layer is built with empty parameters, on the meta device. Its first weight creates them in
    host memory; its last one has them repacked where they are served, and hands them on.

    Attributes:
        whole: Whether the rows are repacked and handed on.
    """

    def __init__(
        self,
        layer: Layer,
        method: FusedMoEMethodBase,
        *,
        begin: Callable[[], None],
        device: torch.device,
        hand_on: Callable[[], None],
    ) -> None:
        self.layer = layer
        self.begin = begin
        self.device = device
        self.hand_on = hand_on
        self.whole = False
        self._create = method.create_weights
        self._repack = method.process_weights_after_loading
        self._in_parts = repacks_in_parts(method)
        self._asked: tuple[tuple[Any, ...], dict[str, Any]] | None = None
        self._missing: dict[str, set[tuple[int, str]]] = {}
        self._names: dict[int, str] = {}
        self._finished_by_vllm = False
        method.create_weights = self.create
        method.process_weights_after_loading = self.process

    def create(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - vLLM's, whatever they are
        """Create the layer's parameters without their bytes."""
        self._asked = args, kwargs
        with torch.device("meta"):
            self._create(*args, **kwargs)
        # vLLM may hold on to these until it has loaded the layer's first weight.
        self._names = {id(each): name for name, each in self.layer.named_parameters()}
        self._kept = list(self.layer.parameters())

    def real(
        self, parameter: torch.nn.Parameter, name: str, expert: int, shard: str
    ) -> torch.nn.Parameter:
        """Find the parameter that has bytes; the first call creates them all.

        Args:
            parameter: What vLLM has in its hands: one with bytes, or the one on the meta device.
            name: Of the weight, for messages.
            expert: Whose it is, for messages.
            shard: Which part of the parameter it is, for messages.

        Raises:
            Refused: The layer's rows are in the banks already.
        """
        if self.whole:
            raise Refused(
                f"{self.layer.layer_name}, expert {expert}: {shard} of {name} came again, after all"
                " of the layer's weights had, and its experts are in two banks (moe_hot_experts)",
                hint="make the checkpoint again with each weight once; where weights are loaded"
                " anew, start the engine again",
            )
        if not self._missing:
            self._materialise()
        mine = self._names.get(id(parameter))
        return parameter if mine is None else getattr(self.layer, mine)

    def took(self, parameter: torch.nn.Parameter, expert: int | None, shard: str | None) -> None:
        """Note that a weight was loaded; the last one has the layer repacked.

        Args:
            parameter: That has it.
            expert: Whose it is; None for all at once.
            shard: Which part of the parameter; None for all at once.
        """
        name = next(n for n, each in self.layer.named_parameters() if each is parameter)
        missing = self._missing.get(name)
        if missing is None:
            return
        missing -= {
            each for each in missing if expert in (None, each[0]) and shard in (None, each[1])
        }
        if not missing:
            del self._missing[name]
            if not self._missing:
                self._finish()

    def process(self, layer: Layer) -> None:
        """Repack what is not yet, when vLLM has loaded all that there is.

        Raises:
            Refused: Nothing of the layer was loaded, or it was processed before.
        """
        if self._finished_by_vllm:
            raise Refused(
                f"{layer.layer_name}: its weights are to be processed again, and its experts are in"
                " two banks",
                hint="weights cannot be reloaded; start the engine again",
            )
        self._finished_by_vllm = True
        if self.whole:
            return
        if not self._missing:
            raise Refused(f"{layer.layer_name}: none of its weights was loaded")
        self._require_whole()
        self._finish()

    def _require_whole(self) -> None:
        """Refuse a parameter of which the checkpoint had a part alone; vLLM would serve the rest.

        One of which it had nothing is vLLM's to refuse, or to do without.
        """
        for name, missing in self._missing.items():
            shards = 1 if name.startswith("w2") else 2
            if len(missing) < shards * self.layer.global_num_experts:
                experts = sorted({expert for expert, _ in missing})
                some = ", ".join(map(str, experts[:SHOWN])) + ", ..." * (len(experts) > SHOWN)
                raise Refused(
                    f"{self.layer.layer_name}.{name}: the checkpoint has no weight of expert {some}",
                    hint="its files are not whole; fetch or make them again",
                )

    def _materialise(self) -> None:
        """Create the parameters once more, with bytes in host memory, as vLLM initialises them."""
        self.begin()
        if self._asked is None:
            raise RuntimeError(f"{self.layer.layer_name} has no parameters yet")
        args, kwargs = self._asked
        with torch.device("cpu"):
            self._create(*args, **kwargs)
        experts = range(self.layer.global_num_experts)
        for name, parameter in self.layer.named_parameters():
            if not hasattr(parameter, "weight_loader"):
                continue
            shards = ("w2",) if name.startswith("w2") else ("w1", "w3")
            self._missing[name] = {(expert, shard) for expert in experts for shard in shards}

    def _finish(self) -> None:
        """Repack, and hand the rows on."""
        if self.device.type == "cpu":
            self._repack(self.layer)
        elif self._in_parts:
            with in_parts_on(self.device):
                self._repack(self.layer)
        else:
            for parameter in self.layer.parameters():
                parameter.data = parameter.data.to(self.device)
            self._repack(self.layer)
        self.whole = True
        self._names, self._kept, self._asked = {}, [], None
        self.hand_on()
