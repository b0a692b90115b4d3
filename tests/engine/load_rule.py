"""What a load into two banks may have in memory beside them, and which of it a load breaks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class LoadRule:
    """One layer is raw, one is repacked, and no row of an expert lies anywhere else.

    Attributes:
        layer: Bytes of a layer's rows.
        tables: Bytes of all layers' tables, which are made as the first weight is loaded.
        sums: Bytes that the sums of a layer's rows are made of and leave.
        beside: Bytes that a load by unpatched vLLM has beside the experts.
    """

    layer: int
    tables: int
    sums: int
    beside: int

    def broken(self, facts: Mapping[str, Any]) -> set[str]:
        """Name what there was more of; see ``inside/allocations.py`` for the stages.

        Args:
            facts: Of a load, as ``inside/load_peak.py`` tells them.
        """
        alive: Mapping[str, int] = facts["alive"]
        most = {"gathered": self.tables, "banked": 0, "summed": self.sums, "other": self.beside}
        broken = {stage for stage, allowed in most.items() if alive.get(stage, 0) > allowed}
        layers = {f"{stage} layers" for stage in ("raw", "repacked") if facts["most"][stage] != 1}
        peak = {"peak"} if facts["peak"] > 2 * self.layer + self.tables else set()
        return broken | layers | peak
