# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Records what a worker's forwards route: whose tokens they are, as the model runner has them."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts
from vllm.v1.outputs import AsyncModelRunnerOutput, ModelRunnerOutput

from expert_bank.glue.hidden import hidden_size, keep_hidden
from expert_bank.glue.requests import Requests, Scheduled
from expert_bank.recording.frames import Header, Record
from expert_bank.recording.kept import Kept
from expert_bank.recording.recorder import Forward, Recorder, columns
from expert_bank.recording.settings import FEATURE, RecordSettings
from expert_bank.recording.stream import Stream
from expert_bank.refused import Refused


class Recording:
    """Stands around the forwards of a worker.

    Attributes:
        recorder: Writes what they routed.
    """

    def __init__(self, worker: Any, counted: Sequence[str], settings: RecordSettings) -> None:  # noqa: ANN401 - vLLM's
        """Have the layers keep their picks; before profiling and capture.

        Args:
            worker: Whose model is loaded.
            counted: Names of the MoE layers that are counted.
            settings: Where to, how much, and what.

        Raises:
            Refused: This engine's batches cannot be told apart, or the file cannot be made.
        """
        runner, model = worker.model_runner, worker.model_runner.get_model()
        _require(worker.vllm_config)
        layers = _layers(model, counted)
        (experts, k), *_ = {(each.global_num_experts, each.top_k) for each in layers.values()}
        hidden = hidden_size(worker.vllm_config) if settings.hidden else 0
        rows = _most_rows(worker.vllm_config, runner)
        self._kept = Kept(len(layers), rows, k, worker.device, hidden)
        for number, layer in enumerate(layers.values()):
            layer.kept_ids, layer.kept_weights = self._kept.ids[number], self._kept.weights[number]
        if self._kept.hidden is not None:
            keep_hidden(model, tuple(layers), self._kept.hidden)
        name = worker.vllm_config.model_config.model
        header = Header(name, tuple(layers), experts, k, hidden)
        self.recorder = Recorder(Stream(settings.folder, header, settings.most))
        self._requests = Requests()
        self._runner = runner
        self._scheduled: dict[str, Scheduled] = {}
        self._last: Forward | None = None
        self._forward = 0

    def before(self, scheduler_output: Any) -> None:  # noqa: ANN401 - vLLM's
        """Take in a step, one without tokens too."""
        self._scheduled, self._last = self._requests.step(scheduler_output), None

    def after(self) -> None:
        """Read what the step's forward routed; it is enqueued, and waited for."""
        names = self._order()
        order = [self._scheduled[name] for name in names]
        spans = [(each.number, each.tokens, each.drafts, each.phase) for each in order]
        request, phase, accepted = columns(spans)
        tokens = len(request)
        ids, weights, hidden = self._kept.read(tokens)
        record = Record(
            forward=self._forward,
            request=request,
            position=self._positions()[:tokens].cpu().numpy().astype("int64"),
            phase=phase,
            accepted=accepted,
            ids=ids,
            weights=weights,
            hidden=hidden,
        )
        self._forward += 1
        self._last = Forward(record, _drafts(names, order))
        self.recorder.ran(self._last)

    def sampled(self, output: Any) -> Any:  # noqa: ANN401 - vLLM's
        """Take in what was sampled behind the step, now or once the device has it."""
        forward, self._last = self._last, None
        if forward is None or forward.settled:
            return output
        if isinstance(output, AsyncModelRunnerOutput):
            take = output.get_output

            def get_output() -> ModelRunnerOutput:
                found = take()
                self.settle(forward, found)
                return found

            output.get_output = get_output
        else:
            self.settle(forward, output)
        return output

    def settle(self, forward: Forward, output: ModelRunnerOutput) -> None:
        """Take in what was sampled behind a forward."""
        found = {
            name: len(output.sampled_token_ids[index])
            for name, index in output.req_id_to_index.items()
            if index < len(output.sampled_token_ids)
        }
        self.recorder.sampled(forward, found)

    def _order(self) -> list[str]:
        """Names of the step's requests in the order in which their tokens lie in the batch."""
        # Model Runner V2 keeps the step's own batch until it is sampled from.
        state = getattr(self._runner, "execute_model_state", None)
        batch = getattr(state, "input_batch", None) or self._runner.input_batch
        names = list(batch.req_ids)
        if sorted(names) != sorted(self._scheduled):
            raise Refused(
                f"{FEATURE}: the batch has {len(names)} requests, and {len(self._scheduled)} were"
                " scheduled; whose tokens these are is not known",
                hint="start the engine again without it",
            )
        return names

    def _positions(self) -> torch.Tensor:
        buffers = getattr(self._runner, "input_buffers", None)
        found: torch.Tensor = (buffers or self._runner).positions
        return found


def _layers(model: torch.nn.Module, counted: Sequence[str]) -> dict[str, Any]:
    """Find the layers by name, which that of the module or that of the layer may be."""
    found = {name: each for name, each in model.named_modules() if isinstance(each, RoutedExperts)}
    found |= {each.layer_name: each for each in found.values()}
    return {name: found[name] for name in counted}


def _drafts(names: list[str], order: list[Scheduled]) -> dict[str, slice]:
    found, end = {}, 0
    for name, each in zip(names, order, strict=True):
        end += each.tokens
        if each.drafts:
            found[name] = slice(end - each.drafts, end)
    return found


def _most_rows(vllm_config: Any, runner: Any) -> int:  # noqa: ANN401 - vLLM's
    """How many rows a forward may have, padding included."""
    scheduler, compilation = vllm_config.scheduler_config, vllm_config.compilation_config
    most: int = max(
        scheduler.max_num_batched_tokens,
        getattr(runner, "max_num_tokens", 0),
        compilation.max_cudagraph_capture_size or 0,
    )
    return most


def _require(vllm_config: Any) -> None:  # noqa: ANN401 - vLLM's
    reasons = [*_against(vllm_config)]
    if reasons:
        raise Refused(
            f"{FEATURE} cannot tell whose picks these are: {'; '.join(reasons)}",
            hint="start the engine again without that, or without moe_record_picks",
        )


def _against(vllm_config: Any) -> Iterator[str]:  # noqa: ANN401 - vLLM's
    parallel = vllm_config.parallel_config
    if parallel.pipeline_parallel_size > 1:
        yield "a worker has some of the layers alone (pipeline_parallel_size)"
    if parallel.tensor_parallel_size > 1:
        yield "several workers have the same tokens (tensor_parallel_size)"
