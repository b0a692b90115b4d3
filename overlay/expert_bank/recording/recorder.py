# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Puts what each forward routed into the file once it is known which drafts were accepted."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from expert_bank.recording.frames import Record
from expert_bank.recording.stream import Stream


@dataclass(eq=False)
class Forward:
    """One that has run.

    Attributes:
        record: What it routed; drafts count as rejected until it is known.
        drafts: By the name of a request under verify: the rows of its drafts.
        settled: Whether it is known which were accepted.
    """

    record: Record
    drafts: Mapping[str, slice] = field(default_factory=dict)
    settled: bool = False


class Recorder:
    """Writes forwards in order; what was sampled may become known later, and in another thread.

    Attributes:
        stream: The file.
        tokens: Scheduled since recording began; those that are written once all is settled.
    """

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.tokens = 0
        self._waiting: deque[Forward] = deque()
        self._lock = Lock()

    def ran(self, forward: Forward) -> None:
        """Take in a forward; the next one is not enqueued yet."""
        forward.settled = not forward.drafts
        with self._lock:
            self.tokens += len(forward.record.request)
            self._waiting.append(forward)
            self._write_settled()

    def sampled(self, forward: Forward, found: Mapping[str, int]) -> None:
        """Take in how many tokens of each request were sampled behind a forward.

        Args:
            forward: That was taken in.
            found: By a request's name: the drafts that were accepted, and one; or 0 where what was
                sampled was thrown away.
        """
        with self._lock:
            for name, rows in forward.drafts.items():
                accepted = max(0, found.get(name, 0) - 1)
                forward.record.accepted[rows.start : min(rows.start + accepted, rows.stop)] = True
            forward.settled = True
            self._write_settled()

    def _write_settled(self) -> None:
        while self._waiting and self._waiting[0].settled:
            self.stream.append(self._waiting.popleft().record)

    def told(self) -> dict[str, Any]:
        """Tell how it stands, as values that JSON can carry."""
        return {
            "file": str(self.stream.path),
            "tokens": self.tokens,
            "written": self.stream.tokens,
            "ended": self.stream.ended,
        }


def columns(spans: list[tuple[int, int, int, int]]) -> tuple[Any, Any, Any]:
    """Give the columns of tokens that lie in a batch, request after request.

    Args:
        spans: Of each request its number, tokens, drafts and phase.

    Returns:
        request int64[T], phase uint8[T], accepted bool[T]: all but the drafts.
    """
    lengths = [tokens for _, tokens, _, _ in spans]
    request = np.repeat(np.array([number for number, *_ in spans], np.int64), lengths)
    phase = np.repeat(np.array([phase for *_, phase in spans], np.uint8), lengths)
    accepted = np.concatenate(
        [np.arange(tokens) < tokens - drafts for _, tokens, drafts, _ in spans]
    )
    return request, phase, accepted
