# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Whether the moving map is worth its swaps, held against the boot map on the same picks."""

from dataclasses import dataclass

# The boot map is served again behind a lost window, if these together were lost, and two at least.
LOST, WEIGHED = 2, 4
# Windows in a row that it must win to come back; doubled each time it lost, up to the second.
WON, MOST_WON = 1, 16
# A window is won by so many standard deviations of what differs, were picks drawn at random.
SIGMAS = 3.0


@dataclass
class Guard:
    """Trusts the moving map until it loses, then waits until it has won again.

    What counts is read in place: each cold pick reads a row over the link, and each swap copies
    one or two. Where the moving map is the boot map nothing is lost or won.

    Attributes:
        window: Tokens of a window.
        trusted: Whether the moving map is served.
        fallbacks: How often it was given up.
        returns: How often it came back.
        won: Windows that it must win in a row to come back.
        ahead: Row reads that the moving map saved in the last whole window, swaps taken off.
    """

    window: int
    trusted: bool = True
    fallbacks: int = 0
    returns: int = 0
    won: int = WON
    ahead: float = 0.0
    _tokens: float = 0.0
    _ahead: float = 0.0
    _differing: float = 0.0
    _row: int = 0
    _recent: tuple[float, ...] = ()
    _trusted_windows: int = 0

    def weigh(self, tokens: float, *, ahead: float, differing: float) -> bool:
        """Weigh what was served since the last call.

        Args:
            tokens: That were scheduled.
            ahead: Cold picks of the boot map less those of the moving one and the rows that its
                swaps copied.
            differing: Picks of experts that are in another bank in the one map than in the other.

        Returns:
            Whether trust was lost or won just now.
        """
        self._tokens += tokens
        self._ahead += ahead
        self._differing += differing
        if self._tokens < self.window:
            return False
        self.ahead, differing = self._ahead, self._differing
        self._tokens = self._ahead = self._differing = 0.0
        return self._lose(differing) if self.trusted else self._win(differing)

    def trust_anew(self) -> None:
        """Trust from here on a map that somebody set."""
        self.trusted = True
        self._tokens = self._ahead = self._differing = 0.0
        self._recent = ()
        self._row = self._trusted_windows = 0

    def _lose(self, differing: float) -> bool:
        self._trusted_windows += 1
        if self._trusted_windows >= 2 * MOST_WON:
            self.won = WON
        self._recent = (*self._recent, self.ahead)[-WEIGHED:]
        lost = self.ahead <= 0 and (differing > 0 or self.ahead < 0)
        if not lost or len(self._recent) < LOST or sum(self._recent) > 0:
            return False
        self.trusted = False
        self.fallbacks += 1
        self._row = 0
        return True

    def _win(self, differing: float) -> bool:
        self._row = self._row + 1 if self.ahead > SIGMAS * differing**0.5 else 0
        if self._row < self.won:
            return False
        self.trusted = True
        self.returns += 1
        self.won = min(2 * self.won, MOST_WON)
        self._recent = ()
        self._trusted_windows = 0
        return True
