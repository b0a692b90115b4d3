from typing import TYPE_CHECKING, Any

from .experts import CountedExperts, install

if TYPE_CHECKING:
    from vllm.v1.worker.gpu_worker import Worker as Base
else:
    Base = object


class CountingWorker(Base):
    counted: list[CountedExperts] | None = None
    tokens = 0

    def load_model(self) -> None:
        counting = self.vllm_config.offload_config.moe_usage_counter
        if counting:
            install()
        super().load_model()
        if counting:
            self.counted = self.model_runner.get_model().layers

    def execute_model(self, scheduled: Any) -> list[int]:  # noqa: ANN401 - vLLM's
        counting = scheduled.request != self.vllm_config.lies.get("uncounted")
        for layer in self.counted or ():
            layer.counting = counting
        if counting:
            self.tokens += scheduled.total_num_scheduled_tokens
        states: list[int] = super().execute_model(scheduled)
        return states
