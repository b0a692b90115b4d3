# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The step of a worker, where vLLM lets a subclass in."""

from typing import TYPE_CHECKING, Any

from expert_bank.counter import PickCounter
from expert_bank.glue.binding import bind_counter
from expert_bank.glue.experts import install

if TYPE_CHECKING:
    from vllm.v1.worker.gpu_worker import Worker as Base
else:
    Base = object


class CountingWorker(Base):
    """Mixed in before a worker class of vLLM; counts picks where the configuration says so.

    Attributes:
        pick_counter: Bound to the model, or None where ``moe_usage_counter`` is off.
    """

    pick_counter: PickCounter | None = None

    def load_model(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - vLLM's, whatever they are
        """Load as vLLM does, and bind the counter to what was loaded."""
        counting = self.vllm_config.offload_config.moe_usage_counter
        if counting:
            install()
        super().load_model(*args, **kwargs)
        if counting:
            model = self.model_runner.get_model()
            self.pick_counter = bind_counter(model, self.vllm_config, self.device)

    def compile_or_warm_up_model(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the same
        """Warm up uncounted: some kernels are warmed by whole steps that nobody asked for."""
        counter, self.pick_counter = self.pick_counter, None
        try:
            return super().compile_or_warm_up_model(*args, **kwargs)
        finally:
            self.pick_counter = counter

    def execute_model(self, scheduler_output: Any) -> Any:  # noqa: ANN401 - vLLM's
        """Run a step; every earlier one of this worker is enqueued by now."""
        tokens = scheduler_output.total_num_scheduled_tokens
        if self.pick_counter is None or tokens == 0:
            return super().execute_model(scheduler_output)
        with self.pick_counter.step(tokens):
            return super().execute_model(scheduler_output)
