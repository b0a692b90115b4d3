"""A switch of traffic that was served, here a drawn one."""

import numpy as np

from benchmarks.switch_outcome import PACE, PHASES, Served
from benchmarks.switch_series import WINDOW
from expert_bank.policy import Policy
from lanewright.residency.oracle import oracle_map
from lanewright.residency.replay import replay
from lanewright.residency.trace import counted
from tests.residency import traffic

L, E, K, H = 2, 64, 4, 49
PHASE = 6 * WINDOW
ENDS = [PHASE, 3 * PHASE, 4 * PHASE]
FORWARD = 16
SWITCHED = PHASES.index("switched")


def drawn() -> Served:
    """Three phases, as an engine would have served them whose forwards are of 16 tokens."""
    home, away = (traffic.matched(n, L, E, K, seed=s) for n, s in ((2 * PHASE, 0), (2 * PHASE, 1)))
    ids = np.concatenate([home[:PHASE], away, home[PHASE:]])
    boot = oracle_map(counted(home, E), [H] * L)
    barriers = [*range(256, len(ids), 256)]
    policy = Policy([*boot], rows=[H] * L, row_bytes=[1] * L, picks_per_token=K, pace=PACE)
    found = replay(policy, ids, boot, every=barriers, rows=[H] * L, row_bytes=[1] * L)
    facts = {
        "experts": E,
        "picks": K,
        "hot_rows": [H] * L,
        "row_bytes": [1] * L,
        "cold_picks": int(found.cold.sum()),
        "follows": {"fallbacks": 0, "returns": 0, "seconds": 0.1},
        "barriers": [
            {
                "forward": token // FORWARD,
                "token": token,
                "swaps": [[s.layer, s.promote, s.demote] for s in swaps],
            }
            for token, swaps in zip(barriers, found.swaps, strict=True)
        ],
    }
    return Served(ids, boot, [H] * L, ENDS, facts)
