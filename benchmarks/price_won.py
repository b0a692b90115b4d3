"""What a switch of traffic cost in seconds, what the moving map won back of that, and what is wanted.

Here what may be noise is no success: a cost that may be none has nothing that could be won back.
"""

from collections.abc import Sequence

from benchmarks.inside_lane import Facts
from benchmarks.intervals import Interval, ratio_of_sums

# Of what the switch cost.
LEAST_WON = 0.5


def cost(blocks: Sequence[Facts]) -> Interval:
    """Estimate how many times as long steps take on switched traffic, under the boot map."""
    return ratio_of_sums(
        [(each["fixed"]["seconds"], each["matched"]["seconds"]) for each in blocks]
    )


def won(blocks: Sequence[Facts]) -> Interval | None:
    """Estimate what share of the time that the switch cost the moving map wins back.

    None where the interval of the cost does not lie above 1: a share of noise is no share.
    """
    if cost(blocks).low <= 1:
        return None
    pairs = [
        (
            block["fixed"]["seconds"] - block["moved"]["seconds"],
            block["fixed"]["seconds"] - block["matched"]["seconds"],
        )
        for block in blocks
    ]
    return ratio_of_sums(pairs)


def told(blocks: Sequence[Facts]) -> str:
    """Write it for people."""
    share = won(blocks)
    back = "what was won back of it is not known" if share is None else f"won back {share.told(3)}"
    return (
        f"the switch made a step {cost(blocks).told(3)} times as long; {back} (wanted: surely above 1, and"
        f" of what it cost surely {LEAST_WON})"
    )


def missed(blocks: Sequence[Facts]) -> list[str]:
    """Say what the blocks do not show: that the switch cost time, and that enough was won back."""
    share = won(blocks)
    if share is None:
        found = cost(blocks).told(3)
        return [
            f"inconclusive: steps {found} times as long are not surely longer; more --blocks may tell"
        ]
    if share.low < LEAST_WON:
        return [f"won back {share.told(3)} of what the switch cost is not surely {LEAST_WON}"]
    return []
