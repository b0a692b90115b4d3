# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Records what a worker's forwards route."""

from typing import Any

from vllm.v1.outputs import AsyncModelRunnerOutput, ModelRunnerOutput

from expert_bank.glue.hidden import keep_hidden
from expert_bank.glue.requests import Scheduled
from expert_bank.glue.routed import Routed
from expert_bank.recording.frames import Header, Record
from expert_bank.recording.recorder import Forward, Recorder, columns
from expert_bank.recording.settings import RecordSettings
from expert_bank.recording.stream import Stream


class Recording:
    """Stands behind the forwards of a worker.

    Attributes:
        recorder: Writes what they routed.
    """

    def __init__(self, worker: Any, routed: Routed, settings: RecordSettings) -> None:  # noqa: ANN401 - vLLM's
        """Begin a file; before profiling and capture.

        Args:
            worker: Whose model is loaded.
            routed: What its forwards route, with room for hidden states where they are recorded.
            settings: Where to, and how much.

        Raises:
            Refused: The file cannot be made, or the hidden states not be kept.
        """
        self._routed = routed
        size = 0
        if (hidden := routed.kept.hidden) is not None:
            size = hidden.shape[-1]
            keep_hidden(worker.model_runner.get_model(), routed.layers, hidden)
        name = worker.vllm_config.model_config.model
        header = Header(name, routed.layers, routed.experts, routed.picks, size)
        self.recorder = Recorder(Stream(settings.folder, header, settings.most))
        self._last: Forward | None = None
        self._forward = 0

    def before(self) -> None:
        """Stand before a step; what was sampled behind the last one is known, or awaited."""
        self._last = None

    def after(self) -> None:
        """Read what the step's forward routed; it is enqueued, and waited for."""
        names = self._routed.order()
        order = [self._routed.scheduled[name] for name in names]
        spans = [(each.number, each.tokens, each.drafts, each.phase) for each in order]
        request, phase, accepted = columns(spans)
        tokens = len(request)
        ids, weights, hidden = self._routed.kept.read(tokens)
        record = Record(
            forward=self._forward,
            request=request,
            position=self._routed.positions()[:tokens].cpu().numpy().astype("int64"),
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


def _drafts(names: list[str], order: list[Scheduled]) -> dict[str, slice]:
    found, end = {}, 0
    for name, each in zip(names, order, strict=True):
        end += each.tokens
        if each.drafts:
            found[name] = slice(end - each.drafts, end)
    return found
