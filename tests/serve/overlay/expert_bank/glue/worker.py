from typing import TYPE_CHECKING, Any

from .experts import BankedExperts, CountedExperts, install
from .two_bank import TwoBank

if TYPE_CHECKING:
    from vllm.v1.worker.gpu_worker import Worker as Base
else:
    Base = object


class BankWorker(Base):
    counted: list[CountedExperts] | None = None
    two_bank: TwoBank | None = None
    tokens = 0

    def load_model(self) -> None:
        offload, lies = self.vllm_config.offload_config, self.vllm_config.lies
        hot = lies.get("banked", getattr(offload, "moe_hot_experts", ""))
        if not hot and not offload.moe_usage_counter:
            super().load_model()
            return
        banked = bool(hot) and "resident" not in lies
        install(BankedExperts if banked else CountedExperts)
        super().load_model()
        self.counted = self.model_runner.get_model().layers
        if banked:
            self.two_bank = TwoBank(self.counted, int(hot), offload.moe_boot_map, lies)

    def execute_model(self, scheduled: Any) -> list[int]:  # noqa: ANN401 - vLLM's
        counting = scheduled.request != self.vllm_config.lies.get("uncounted")
        if self.two_bank:
            self.two_bank.forward()
        for layer in self.counted or ():
            layer.counting = counting
        if counting:
            self.tokens += scheduled.total_num_scheduled_tokens
        states: list[int] = super().execute_model(scheduled)
        return states
