"""What an engine served of a traffic switch, and what other maps and policies make of the same picks."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from benchmarks.inside_lane import Facts
from expert_bank.pace import Pace
from expert_bank.policy import Policy
from lanewright.errors import LanewrightError
from lanewright.residency.belady import belady_cold
from lanewright.residency.fixed import cold_picks
from lanewright.residency.lru import lru_cold
from lanewright.residency.oracle import oracle_map
from lanewright.residency.replay import Replayed, replay
from lanewright.residency.trace import Map, Picks, Trace, counted

# The engine's; and the one that is replayed beside it.
PACE, DEFAULT = Pace(every=16), Pace()
PHASES = ("matched", "switched", "back")
# Before which token, in which layer, the expert promoted and the one demoted.
Move = tuple[int, int, int | None, int | None]


@dataclass(frozen=True)
class Served:
    """What an engine served.

    Attributes:
        ids: int16[T, L, k].
        boot: bool[L, E].
        rows: H of each layer.
        ends: Behind which token each phase ends.
        facts: All that the script wrote.
    """

    ids: Trace
    boot: Map
    rows: list[int]
    ends: list[int]
    facts: Facts

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Each phase's first token, and the one behind its last."""
        return [*pairwise([0, *self.ends])]

    def best(self, phase: int) -> Map:
        """Give the oracle map of a phase."""
        start, stop = self.spans[phase]
        return oracle_map(counted(self.ids[start:stop], self.boot.shape[1]), self.rows)


@dataclass(frozen=True)
class Outcome:
    """What became of the same picks.

    Attributes:
        cold: By policy, int64[T, L].
        swaps: Of ``moving`` and ``default``, in order.
    """

    cold: dict[str, Picks]
    swaps: dict[str, list[Move]]


def outcome(served: Served) -> Outcome:
    """Count each policy's cold picks; the engine's own pace must come to what the engine did.

    Raises:
        LanewrightError: The replay and the engine are not one.
    """
    cold: dict[str, Picks] = {}
    swaps: dict[str, list[Move]] = {}
    for name, pace in (("moving", PACE), ("default", DEFAULT)):
        found = replayed(served, pace)
        cold[name] = found.cold
        swaps[name] = [
            (token, each.layer, each.promote, each.demote)
            for token, made in zip(barriers(served, pace), found.swaps, strict=True)
            for each in made
        ]
    require_the_same(served, cold["moving"], swaps["moving"])
    ids, boot, rows = served.ids, served.boot, served.rows
    cold["fixed"] = cold_picks(ids, boot)
    cold["oracle"] = np.concatenate(
        [cold_picks(ids[slice(*span)], served.best(n)) for n, span in enumerate(served.spans)]
    )
    cold["lru"] = lru_cold(ids, boot, rows)
    cold["belady"] = belady_cold(ids, boot, rows)
    return Outcome(cold, swaps)


def barriers(served: Served, pace: Pace) -> list[int]:
    """Tokens before the barriers of a pace that is a multiple of the engine's."""
    noted = served.facts["barriers"]
    return [each["token"] for each in noted if each["token"] and not each["forward"] % pace.every]


def replayed(served: Served, pace: Pace) -> Replayed:
    """Drive the policy over the picks."""
    sizes = served.facts["row_bytes"]
    picks = served.ids.shape[2]
    policy = Policy(
        [*served.boot], rows=served.rows, row_bytes=sizes, picks_per_token=picks, pace=pace
    )
    every = barriers(served, pace)
    return replay(policy, served.ids, served.boot, every=every, rows=served.rows, row_bytes=sizes)


def require_the_same(served: Served, moving: Picks, swaps: list[Move]) -> None:
    """Hold the replay against what the engine did and counted.

    Raises:
        LanewrightError: They are not one.
    """
    noted = served.facts["barriers"]
    made = [(barrier["token"], *swap) for barrier in noted for swap in barrier["swaps"]]
    if made != swaps:
        raise LanewrightError(f"the engine made {len(made)} swaps, and the replay {len(swaps)}")
    if int(moving.sum()) != served.facts["cold_picks"]:
        raise LanewrightError(
            f"the engine counted {served.facts['cold_picks']} cold picks, and the replay"
            f" {int(moving.sum())}"
        )
