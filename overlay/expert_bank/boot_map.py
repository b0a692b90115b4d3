# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Which experts are hot when the engine starts."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from expert_bank.refused import Refused

FIRST, EMPTY, USAGE = KINDS = ("first", "empty", "usage")


def boot_map(
    kind: str,
    *,
    hot: Sequence[int],
    experts: Sequence[int],
    usage: Sequence[NDArray[np.int64]] | None = None,
) -> list[list[int]]:
    """Choose the experts of each layer's hot rows; the same arguments always give the same.

    Args:
        kind: ``first``: experts 0..H-1. ``empty``: none, and rows stay free until swaps
            promote; all where H is E, for such a layer has no cold row that they could be in.
            ``usage``: the H most used, a tie to the lower id, those that were never used last.
        hot: H of each layer, 0..E.
        experts: E of each layer.
        usage: Picks of each expert, one int64[E] a layer; for ``usage`` alone.

    Returns:
        For each layer the expert of each hot row, row 0 first; with ``usage``, the most used is in
        row 0.

    Raises:
        Refused: No such kind; counts are missing, are not needed, or are of another shape.
        ValueError: ``hot`` is not 0..E of each layer.
    """
    if len(hot) != len(experts) or any(
        not 0 <= rows <= most for rows, most in zip(hot, experts, strict=False)
    ):
        raise ValueError(f"hot rows {hot} of {experts} experts")
    if kind not in KINDS:
        raise Refused(f"moe_boot_map: there is no {kind!r}", hint=f"there are {', '.join(KINDS)}")
    if kind != USAGE:
        if usage is not None:
            raise Refused(
                f"moe_boot_map {kind!r} takes no usage counts, and some were given",
                hint=f"ask for {USAGE!r}, or give no counts",
            )
        return [
            list(range(rows)) if kind == FIRST or rows == most else []
            for rows, most in zip(hot, experts, strict=True)
        ]
    if usage is None:
        raise Refused(
            f"moe_boot_map {USAGE!r} needs usage counts",
            hint="make a file of them with `lanewright residency map USAGE.parquet --out FILE`",
        )
    shapes = [counts.shape for counts in usage]
    if shapes != [(most,) for most in experts]:
        raise Refused(
            f"moe_boot_map: usage counts of shapes {shapes}, and the layers have {experts} experts"
        )
    return [
        [int(expert) for expert in np.argsort(-counts, kind="stable")[:rows]]
        for counts, rows in zip(usage, hot, strict=True)
    ]
