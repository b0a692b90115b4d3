"""An estimate as values that JSON can carry: bytes, seconds, shares."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from lanewright.residency.cost.compared import Compared, compare
from lanewright.residency.cost.estimate import Estimate
from lanewright.residency.cost.figures import Figures


def facts(found: Estimate) -> dict[str, Any]:
    """Give an estimate as values.

    Args:
        found: It.

    Returns:
        With ``schema`` 1: keys come and do not change their meaning under that number.
    """
    model = found.model
    sizes = {
        "row": model.row,
        "layer": model.layer_bytes,
        "experts": model.bytes,
        "hot_bank": model.hot_bytes,
        "cold_experts": model.cold_bytes,
    }
    values: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(found))
    return {"schema": 1, **values, "bytes": sizes}


def compared(figures: Figures, values: dict[str, Any], file: Path) -> dict[str, Any]:
    """Give figures beside what is computed, as values; ``rows`` for people has the same.

    Args:
        figures: As stated.
        values: Of ``facts``.
        file: Of the figures, for messages.
    """
    rows: Sequence[Compared] = compare(figures, values, file)
    return {
        "source": figures.source,
        "compared": msgspec.json.decode(msgspec.json.encode(rows)),
        "not_computed": msgspec.to_builtins(figures.not_computed),
    }
