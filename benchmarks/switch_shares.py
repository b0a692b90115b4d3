"""What a switch of traffic came to, in a table: cold shares by phase, and regret."""

from benchmarks.switch_outcome import DEFAULT, PACE, PHASES, Outcome, Served
from benchmarks.switch_recovery import MOST
from lanewright.residency.null import null_share
from lanewright.residency.trace import Picks

COLUMNS = (
    "phase       tokens   fixed  moving  last 1/3  regret  swaps  default  last 1/3  regret  swaps"
    "  oracle     LRU  Belady"
)


def share(served: Served, cold: Picks, phase: int, *, last: bool = False) -> float:
    """Cold share of a phase, or of its last third."""
    start, stop = served.spans[phase]
    start = stop - (stop - start) // 3 if last else start
    return float(cold[start:stop].mean() / served.ids.shape[2])


def table(served: Served, found: Outcome) -> list[str]:
    """Write the cold shares by phase."""
    layers, experts = served.boot.shape
    null = null_share(experts, served.rows)
    lines = [
        (
            f"cold share of picks, {layers} MoE layers, {served.rows[0]} of {experts} experts hot; a"
            f" map drawn at random: {null:.1%}"
        ),
        (
            f"moving: the engine's, a barrier every {PACE.every} forwards; default: replayed over the"
            f" same picks, every {DEFAULT.every}, as moe_follow has it by default; regret: points above the"
            " oracle map of the phase"
        ),
        COLUMNS,
    ]
    for phase, name in enumerate(PHASES):
        start, stop = served.spans[phase]
        line = f"{name:<10}{stop - start:>8}{share(served, found.cold['fixed'], phase):>8.1%}"
        best = share(served, found.cold["oracle"], phase)
        for kind, width in (("moving", 8), ("default", 9)):
            mean = share(served, found.cold[kind], phase)
            end = share(served, found.cold[kind], phase, last=True)
            swaps = sum(start < token <= stop for token, *_ in found.swaps[kind])
            line += f"{mean:>{width}.1%}{end:>10.1%}{100 * (mean - best):>8.1f}{swaps:>7}"
        for other in ("oracle", "lru", "belady"):
            line += f"{share(served, found.cold[other], phase):>8.1%}"
        lines.append(line)
    follows, noted = served.facts["follows"], served.facts["barriers"]
    lines.append(
        f"  the replay of {len(found.swaps['moving'])} swaps at {len(noted)} barriers is the engine's,"
        f" swap by swap, and so are its {served.facts['cold_picks']} cold picks; the guard fell back"
        f" {follows['fallbacks']} times and came back {follows['returns']}; deciding took"
        f" {follows['seconds']:.3f} s"
    )
    return lines


def far(served: Served, found: Outcome) -> list[str]:
    """Say in which phases the moving map does not come near enough to the oracle map."""
    missed = []
    for phase, name in enumerate(PHASES):
        ours, best = (
            share(served, found.cold[each], phase, last=True) for each in ("moving", "oracle")
        )
        if ours > MOST * best:
            missed.append(f"{name}: {ours:.1%} cold in the last third, oracle map {best:.1%}")
    return missed
