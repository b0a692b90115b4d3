"""What guessers are compared on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lanewright.residency.compared.setting import LINKS
from lanewright.residency.trace import Map
from lanewright.residency.trace_file.recorded import DECODE, PREFILL, VERIFY, Recorded

# int32[N, L, W]: of each token that is guessed at, in each layer, experts from the likeliest on; -1
# where nothing more is named.
Ranks = NDArray[np.int32]
NONE = -1
Phase = Literal["decode", "prefill"]
PHASE_NUMBERS: dict[str, tuple[int, ...]] = {"decode": (DECODE, VERIFY), "prefill": (PREFILL,)}
# The widest guess, in picks of a token.
WIDEST = 3


class CannotGuess(Exception):  # noqa: N818 - no error: a row of the scoreboard says why
    """The trace, or this machine, has not what a guesser goes by."""


@dataclass(frozen=True, eq=False)
class Setting:
    """One trace, what is learned from, what is guessed at, and a machine.

    Attributes:
        trace: The picks, of all requests.
        learned: bool[T], tokens of the requests that are learned from.
        phase: Of the tokens that are guessed at; a token under verify is one of decode.
        boot: bool[L, E], what is resident: the map at the start.
        row: Bytes of one expert.
        links: GB/s of each link that is tried.
        step_seconds: That a forward computes, each layer an equal part.
        attention: Share of a layer's part that is in front of its router; assumed.
        eams: EAMs that are kept at most.
        nearest: EAMs that a prediction sums.
        seed: Of whatever is drawn.
        head: Fits the trained head and gives its guess.
    """

    trace: Recorded
    learned: NDArray[np.bool_]
    phase: Phase
    boot: Map
    row: int
    links: tuple[float, ...] = LINKS
    step_seconds: float = 0.015
    attention: float = 0.5
    eams: int = 120
    nearest: int = 1
    seed: int = 0
    head: "Callable[[Setting], Ranks] | None" = None

    @property
    def in_phase(self) -> NDArray[np.bool_]:
        """bool[T], tokens of the phase, of all requests."""
        return np.isin(self.trace.phase, PHASE_NUMBERS[self.phase])

    @property
    def scored(self) -> NDArray[np.int64]:
        """int64[N], the tokens that are guessed at, in order."""
        return np.flatnonzero(~self.learned & self.in_phase)

    @property
    def width(self) -> int:
        """Experts that a guess names at most, W."""
        return min(WIDEST * self.trace.picks, self.trace.experts)
