# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""How long the scores of a policy take to forget old traffic and to know the new."""

from dataclasses import dataclass
from math import ceil, exp, expm1, log, sqrt

from expert_bank.choosing import worth
from expert_bank.pace import Pace
from expert_bank.weighing import spread_at_rest, weights

# How far luck may put a score on its wrong side, in standard deviations: of some hundred pairs one
# is nearly three off.
UNLUCKY = 3.0
FORGOTTEN = 40  # half-lives; of what was before 1e-12 is left


@dataclass(frozen=True)
class Rate:
    """Picks of an expert, a token.

    Attributes:
        before: Up to the switch, for so long that its score was at rest.
        after: From then on.
    """

    before: float
    after: float


def barriers_to_tell(pace: Pace, tokens: int, leaving: Rate, arriving: Rate) -> int | None:
    """Tell at which barrier after a switch of traffic one expert is to take another's row.

    A pick counts half after h tokens, so j barriers of T tokens after the switch a score is

        w T (before d^j + after (1 - d^j)) / (1 - d),  d = 2^(-T/h)

    where picks come as expected, and those of a barrier have the weight w (``weighing``). Drawn at
    random with these rates it has the variance

        w^2 T (before d^2j + after (1 - d^2j)) / (1 - d^2)

    at most, and each of the two scores is taken ``UNLUCKY`` standard deviations on its wrong side.

    Args:
        pace: The policy's settings.
        tokens: T, from one barrier to the next.
        leaving: Of the hot expert; its rate does not rise.
        arriving: Of the cold one; its rate does not fall.

    Returns:
        j, one at the least; None where the policy keeps the hot one for ever.

    Raises:
        ValueError: The rates go the other way, or are none.
    """
    if not leaving.before >= leaving.after >= 0 <= arriving.before <= arriving.after:
        raise ValueError(f"{leaving} leaves, and {arriving} arrives")
    if tokens < 1:
        raise ValueError(f"a barrier every {tokens} tokens")
    decay = log(2) * tokens / pace.half_life
    weight = weights(tokens, pace.half_life).mean
    spread = spread_at_rest(tokens, pace.half_life)

    def score(rate: Rate, barriers: int) -> tuple[float, float]:
        variance = weight**2 * _summed(rate, tokens, 2 * decay, barriers)
        return weight * _summed(rate, tokens, decay, barriers), sqrt(variance)

    def told(barriers: int) -> bool:
        theirs, late = score(leaving, barriers)
        ours, early = score(arriving, barriers)
        return worth(max(0.0, ours - UNLUCKY * early), theirs + UNLUCKY * late, spread, pace)

    # Once told it stays so: ours rises and theirs falls.
    kept, found = 0, ceil(FORGOTTEN * pace.half_life / tokens)
    if not told(found):
        return None
    while found - kept > 1:
        middle = (kept + found) // 2
        kept, found = (kept, middle) if told(middle) else (middle, found)
    return found


def _summed(rate: Rate, tokens: int, decay: float, barriers: int) -> float:
    """Add up the expected picks, of which exp(-decay) are left at each barrier."""
    old, new = exp(-decay * barriers), -expm1(-decay * barriers)
    return tokens * (rate.before * old + rate.after * new) / -expm1(-decay)
