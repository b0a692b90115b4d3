"""Plans of layers that are alike, of whose free bytes nothing is asked."""

from expert_bank.layer_shape import LayerShape
from expert_bank.plan import Mode, Plan


def planned(*hot: int, experts: int, picks: int, mode: Mode = "mirror", row: int = 2**20) -> Plan:
    """Plan layers of E experts, H of each as given, with rows of one tensor."""
    shape = LayerShape(experts, picks, {"w": row}, experts * row, experts * row)
    return Plan(
        layers=(shape,) * len(hot),
        hot=hot,
        mode=mode,
        page=1,
        other=0,
        free_device=0,
        free_host=0,
        kv_per_token=None,
    )
