# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The staging buffer's size and price, and the smallest step that is staged, for people."""

from collections.abc import Iterator
from fractions import Fraction

from expert_bank.sizes import told
from expert_bank.staging.room import FIELD, StageRoom
from expert_bank.staging.threshold import NEVER, Cold

# Digits behind the point, until a number that is more than one is told as more.
FEWEST, MOST_DIGITS = 2, 12


def stage_lines(
    room: StageRoom,
    cold: Cold,
    share: float,
    kv_per_token: Fraction | int | None,
    *,
    replayed: int = 0,
    most: int | None = None,
) -> Iterator[str]:
    """Tell what staging takes, and the smallest step that it is for.

    Args:
        room: Of the buffer.
        cold: What cold reads follow from.
        share: Of the picks that are cold where every expert is picked alike.
        kv_per_token: Bytes of KV cache; None where there is no cache.
        replayed: Tokens up to which a step may be replayed from a graph, and is read in place.
        most: Tokens that a step has at most; None where that is not known.
    """
    if room.off:
        yield f"{FIELD}: nothing is staged: {room.off}"
        return
    price = "" if kv_per_token is None else f", {room.bytes // kv_per_token} tokens of KV cache"
    late = ""
    if room.bytes < room.whole:
        late = (
            f"; two layers' rows would take {told(room.whole)}, so some wait until others are read"
        )
    yield f"staging buffer: {room.rows} rows, {told(room.bytes)} of the device{price}{late}"
    yield step_line(cold, share, "uniform traffic", replayed=replayed, most=most)


def step_line(
    cold: Cold, share: float, traffic: str, *, replayed: int = 0, most: int | None = None
) -> str:
    """Tell the smallest step that is staged at some share of cold picks, or why none is.

    Args:
        cold: See ``stage_lines``.
        share: Of the picks that are cold.
        traffic: Whose share that is.
        replayed: See ``stage_lines``.
        most: See ``stage_lines``.
    """
    at, least = f"at {share:.1%} of picks cold ({traffic})", cold.least(share)
    if least == NEVER:
        return (
            f"no step is staged: {at} no number of tokens reads a cold row more than once in the"
            f" mean; take {FIELD} out"
        )
    first, graphs = max(least, replayed + 1), ""
    if least <= replayed:
        graphs = f", by bytes from {least} on, but up to {replayed} a graph is replayed"
    if most is not None and first > most:
        enough = f"to {first} or more"
        if replayed == most:
            # The engine bounds the graphs by its largest step, and they grow with it.
            enough = f"above what graphs are captured for, and to {least} or more"
        return (
            f"no step is staged: {at} it takes {first} tokens{graphs}; a step has at most {most};"
            f" raise max_num_batched_tokens {enough}, or take {FIELD} out"
        )
    together = "" if cold.block == 1 else f" (once for {cold.block} of the tokens that picked it)"
    return (
        f"a step that computes a prompt is staged from {first} tokens on {at}{graphs}: in place it"
        f" reads each of {cold.rows} cold rows {_more(cold.reads(first, share))} times in the"
        f" mean{together}, staged, each is copied once"
    )


def _more(reads: float) -> str:
    """Write a number above one so that it reads so."""
    found = (f"{reads:.{digits}f}" for digits in range(FEWEST, MOST_DIGITS))
    return next((text for text in found if float(text) > 1), "just over 1")
