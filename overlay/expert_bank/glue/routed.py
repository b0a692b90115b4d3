# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What a worker's forwards route, and whose tokens they are, as the model runner has them."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import torch
from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts

from expert_bank.glue.requests import Requests, Scheduled
from expert_bank.recording.kept import Kept
from expert_bank.refused import Refused


class Reader(Protocol):
    """Reads what is routed."""

    def before(self) -> None:
        """Stand before a step, one without tokens too; whose it is, and who ended, is known."""

    def after(self) -> None:
        """Stand behind its forward, which is enqueued."""


class Routed:
    """Keeps what a forward routed until the next, and knows whose tokens it computed.

    Attributes:
        layers: Names of the MoE layers.
        experts: Of a layer, E.
        picks: Of a token in a layer, k.
        kept: What the last forward routed; on the device.
        scheduled: By the name of each request what the step computes of it.
        readers: Who reads it, in this order.
    """

    def __init__(
        self,
        worker: Any,  # noqa: ANN401 - vLLM's
        counted: Sequence[str],
        feature: str,
        hidden: int = 0,
    ) -> None:
        """Have the layers keep their picks; before profiling and capture.

        Args:
            worker: Whose model is loaded.
            counted: Names of the MoE layers that are counted.
            feature: Who asks for it.
            hidden: h, to make room for hidden states; 0 for none.

        Raises:
            Refused: This engine's batches cannot be told apart.
        """
        self.feature = feature
        _require(worker.vllm_config, feature)
        runner, model = worker.model_runner, worker.model_runner.get_model()
        layers = _layers(model, counted)
        first = next(iter(layers.values()))
        self.experts, self.picks = first.global_num_experts, first.top_k
        rows = _most_rows(worker.vllm_config, runner)
        self.kept = Kept(len(layers), rows, self.picks, worker.device, hidden)
        for number, layer in enumerate(layers.values()):
            layer.kept_ids, layer.kept_weights = self.kept.ids[number], self.kept.weights[number]
        self.layers = tuple(layers)
        self.scheduled: dict[str, Scheduled] = {}
        self.readers: list[Reader] = []
        self._requests = Requests()
        self._runner = runner

    @property
    def ended(self) -> tuple[int, ...]:
        """Numbers of the requests that ended before this step, the oldest first."""
        return self._requests.ended

    def before(self, scheduler_output: Any) -> None:  # noqa: ANN401 - vLLM's
        """Take in a step, one without tokens too."""
        self.scheduled = self._requests.step(scheduler_output)
        for each in self.readers:
            each.before()

    def after(self) -> None:
        """Stand behind the step's forward, which is enqueued."""
        for each in self.readers:
            each.after()

    def order(self) -> list[str]:
        """Name the step's requests in the order in which their tokens lie in the batch.

        Raises:
            Refused: The batch is not what was scheduled.
        """
        # Model Runner V2 keeps the step's own batch until it is sampled from.
        state = getattr(self._runner, "execute_model_state", None)
        batch = getattr(state, "input_batch", None) or self._runner.input_batch
        names = list(batch.req_ids)
        if sorted(names) != sorted(self.scheduled):
            raise Refused(
                f"{self.feature}: the batch has {len(names)} requests, and {len(self.scheduled)} were"
                " scheduled; whose tokens these are is not known",
                hint="start the engine again without it",
            )
        return names

    def positions(self) -> torch.Tensor:
        """Give the place of each token of the batch in its request; padding behind them."""
        buffers = getattr(self._runner, "input_buffers", None)
        found: torch.Tensor = (buffers or self._runner).positions
        return found


def _layers(model: torch.nn.Module, counted: Sequence[str]) -> dict[str, Any]:
    """Find the layers by name, which that of the module or that of the layer may be."""
    found = {name: each for name, each in model.named_modules() if isinstance(each, RoutedExperts)}
    found |= {each.layer_name: each for each in found.values()}
    return {name: found[name] for name in counted}


def _most_rows(vllm_config: Any, runner: Any) -> int:  # noqa: ANN401 - vLLM's
    """How many rows a forward may have, padding included."""
    scheduler, compilation = vllm_config.scheduler_config, vllm_config.compilation_config
    most: int = max(
        scheduler.max_num_batched_tokens,
        getattr(runner, "max_num_tokens", 0),
        compilation.max_cudagraph_capture_size or 0,
    )
    return most


def _require(vllm_config: Any, feature: str) -> None:  # noqa: ANN401 - vLLM's
    reasons = [*_against(vllm_config)]
    if reasons:
        raise Refused(
            f"{feature} cannot tell whose picks these are: {'; '.join(reasons)}",
            hint=f"start the engine again without that, or without {feature}",
        )


def _against(vllm_config: Any) -> Iterator[str]:  # noqa: ANN401 - vLLM's
    parallel = vllm_config.parallel_config
    if parallel.pipeline_parallel_size > 1:
        yield "a worker has some of the layers alone (pipeline_parallel_size)"
    if parallel.tensor_parallel_size > 1:
        yield "several workers have the same tokens (tensor_parallel_size)"
