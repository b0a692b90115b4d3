# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The staging buffer's size, price and threshold, for people."""

from collections.abc import Iterator
from fractions import Fraction

from expert_bank.sizes import told
from expert_bank.staging.room import FIELD, StageRoom
from expert_bank.staging.threshold import NEVER, Cold


def stage_lines(
    room: StageRoom,
    cold: Cold,
    share: float,
    kv_per_token: Fraction | int | None,
    *,
    replayed: int = 0,
) -> Iterator[str]:
    """Tell what staging takes, and the smallest step that it is for.

    Args:
        room: Of the buffer.
        cold: What cold reads follow from.
        share: Of the picks that are cold where every expert is picked alike.
        kv_per_token: Bytes of KV cache; None where there is no cache.
        replayed: Tokens up to which a step may be replayed from a graph, and is read in place.
    """
    if room.off:
        yield f"{FIELD}: nothing is staged: {room.off}"
        return
    price = "" if kv_per_token is None else f", {room.bytes // kv_per_token} tokens of KV cache"
    ahead = (
        ""
        if room.bytes >= room.whole
        else f"; all rows come a layer ahead from {told(room.whole)} on"
    )
    yield f"staging buffer: {room.rows} rows, {told(room.bytes)} of the device{price}{ahead}"
    least = cold.least(share)
    if least == NEVER:
        yield "no step is staged: no number of tokens reads a cold row more than once in the mean"
        return
    graphs = ""
    if least <= replayed:
        graphs = f"; the bytes pay from {least} on, and up to {replayed} a graph is replayed"
        least = replayed + 1
    yield (
        f"a step that computes a prompt is staged from {least} tokens on at {share:.1%} of picks cold"
        f" (uniform traffic): {_read(cold)} is then read {cold.reads(least, share):.2f} times in"
        f" place, and copied once{graphs}"
    )


def _read(cold: Cold) -> str:
    each = "" if cold.block == 1 else f", by {cold.block} tokens at a time,"
    return f"each of {cold.rows} cold rows{each}"
