from vllm.model_executor.layers.fused_moe import routed_experts

from .two_bank import LayerBank


class CountedExperts(routed_experts.RoutedExperts):
    def __init__(self, layer_name: str) -> None:
        super().__init__(layer_name)
        self.counts = [0] * routed_experts.EXPERTS
        self.counting = False

    def forward_modular(self, state: int, picks: tuple[int, int]) -> int:
        if self.counting:
            self.count(picks)
        return int(super().forward_modular(state, self.places(picks)))

    def count(self, picks: tuple[int, int]) -> None:
        for expert in picks:
            self.counts[expert] += 1

    def places(self, picks: tuple[int, int]) -> tuple[int, int]:
        return picks


class BankedExperts(CountedExperts):
    bank: LayerBank

    def count(self, picks: tuple[int, int]) -> None:
        super().count(picks)
        for expert in picks:
            self.bank.picks[not self.bank.is_hot(expert)] += 1

    def places(self, picks: tuple[int, int]) -> tuple[int, int]:
        first, second = picks
        return self.bank.place[first], self.bank.place[second]


def install(kind: type[CountedExperts] = CountedExperts) -> None:
    routed_experts.built[:] = [kind]


def installed() -> bool:
    return any(issubclass(each, CountedExperts) for each in routed_experts.built)
