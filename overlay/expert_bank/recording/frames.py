# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The form of a picks file: a line of JSON, and a frame for every forward.

A frame is ``PICK``, the bytes that follow the next eight (uint32), their CRC-32 (uint32), and then: the
forward's number (uint64) and T (uint32); of each token its request and position (int64[T] each), its phase
(uint8[T]) and whether it was accepted (uint8[T]); ids (uint16[T, L, k]), weights (float32[T, L, k])
and, where they are kept, hidden states (float16[T, L, h]). All is little-endian. A file that a killed
engine left ends within a frame, and is good up to there.

NumPy and the standard library alone.
"""

import json
import struct
import zlib
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

SCHEMA = 1
KIND = "picks"
MAGIC = b"PICK"
HEAD = struct.Struct("<4sII")
FORWARD = struct.Struct("<QI")
PREFILL, DECODE, VERIFY = range(3)


@dataclass(frozen=True)
class Header:
    """What a file says of itself.

    Attributes:
        model: As the engine names it.
        layers: Names of the L MoE layers, in the model's order.
        experts: E.
        picks: k.
        hidden: h; 0 where no hidden states are kept.
    """

    model: str
    layers: tuple[str, ...]
    experts: int
    picks: int
    hidden: int = 0

    def line(self) -> bytes:
        """Write it as the first line of a file."""
        return json.dumps({"kind": KIND, "schema": SCHEMA, **asdict(self)}).encode() + b"\n"


@dataclass(eq=False)
class Record:
    """What one forward routed, token by token as the engine had them.

    Attributes:
        forward: Its number.
        request: int64[T], number of the request.
        position: int64[T], from 0 on, prompt included.
        phase: uint8[T], 0 prefill, 1 decode, 2 verify, by the scheduler's word.
        accepted: bool[T], False for a draft that was rejected.
        ids: uint16[T, L, k].
        weights: float32[T, L, k].
        hidden: float16[T, L, h], or None.
    """

    forward: int
    request: NDArray[np.int64]
    position: NDArray[np.int64]
    phase: NDArray[np.uint8]
    accepted: NDArray[np.bool_]
    ids: NDArray[np.uint16]
    weights: NDArray[np.float32]
    hidden: NDArray[np.float16] | None = None

    def frame(self) -> bytes:
        """Write it as a frame."""
        parts = [FORWARD.pack(self.forward, len(self.request))]
        for column, kind in (
            (self.request, "<i8"),
            (self.position, "<i8"),
            (self.phase, "u1"),
            (self.accepted, "u1"),
            (self.ids, "<u2"),
            (self.weights, "<f4"),
            (self.hidden, "<f2"),
        ):
            if column is not None:
                parts.append(np.ascontiguousarray(column, kind).tobytes())
        body = b"".join(parts)
        return HEAD.pack(MAGIC, len(body), zlib.crc32(body)) + body
