from vllm.model_executor.layers.fused_moe import routed_experts


class CountedExperts(routed_experts.RoutedExperts):
    def __init__(self, layer_name: str) -> None:
        super().__init__(layer_name)
        self.counts = [0] * routed_experts.EXPERTS
        self.counting = False

    def forward_modular(self, state: int, picks: tuple[int, int]) -> int:
        if self.counting:
            for expert in picks:
                self.counts[expert] += 1
        return int(super().forward_modular(state, picks))


def install() -> None:
    routed_experts.built[:] = [CountedExperts]


def installed() -> bool:
    return CountedExperts in routed_experts.built
