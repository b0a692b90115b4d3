import struct
import zlib

EXPERTS = 8
built: list[type] = []


def mix(state: int, value: int) -> int:
    return zlib.crc32(struct.pack("<II", state, value))


class Row:
    def __init__(self, value: int) -> None:
        self.value = value

    def clone(self) -> "Row":
        return Row(self.value)

    def copy_(self, other: "Row") -> None:
        self.value = other.value


class RoutedExperts:
    top_k = 2
    global_num_experts = EXPERTS

    def __init__(self, layer_name: str) -> None:
        self.layer_name = layer_name
        self.rows = [
            [Row(zlib.crc32(f"{layer_name}.{name}.{expert}".encode())) for expert in range(EXPERTS)]
            for name in ("w13", "w2")
        ]

    def get_expert_weights(self) -> list[list[Row]]:
        return self.rows

    def forward(self, state: int) -> int:
        """Pick two different experts for a token and run them."""
        first = state % EXPERTS
        step = 1 + state // EXPERTS % (EXPERTS - 1)
        return self.forward_modular(state, (first, (first + step) % EXPERTS))

    def forward_modular(self, state: int, picks: tuple[int, int]) -> int:
        for rows in self.rows:
            for expert in picks:
                state = mix(state, rows[expert].value)
        return state


class DeafExperts(RoutedExperts):
    """Gives the same whatever is written into its rows."""

    def __init__(self, layer_name: str) -> None:
        super().__init__(layer_name)
        self.shown = [[row.clone() for row in rows] for rows in self.rows]

    def get_expert_weights(self) -> list[list[Row]]:
        return self.shown
