from typing import Any

from vllm.model import Model, ModelRunner


class CPUWorker:
    def __init__(self, vllm_config: Any) -> None:  # noqa: ANN401 - as vLLM's workers take it
        self.vllm_config = vllm_config

    def load_model(self) -> None:
        self.model_runner = ModelRunner(Model(deaf=self.vllm_config.lies.get("deaf", False)))

    def execute_model(self, scheduled: Any) -> list[int]:  # noqa: ANN401 - the same
        """Run every scheduled token; the state after each."""
        states, state = [], scheduled.state
        for token in scheduled.tokens:
            state = self.model_runner.get_model().forward(state, token)
            states.append(state)
        return states
