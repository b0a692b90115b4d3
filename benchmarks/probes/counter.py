"""E1: what counting picks costs a step, in a captured graph.

All layers' splits in one graph, with every token counted against with none, in turns at random, at 6,
16 and 32 tokens a step, whose picks are uniform, as Zipf has them, or all of the same experts.
"""

from collections.abc import Mapping
from typing import Any

from benchmarks.intervals import median

SCRIPT = "probe_counter.py"
# A step of the machine that the lanes are for, and what of it counting may take.
STEP_MS, MOST_SHARE = 14.6, 0.01
ROWS = "counter cost at 6, 16 and 32 tokens, for uniform, Zipf and one-expert picks"


def facts(each: Mapping[str, Any]) -> dict[str, Any]:
    """Tell one number of tokens and kind of picks; times are of a step, all layers, in microseconds."""
    pairs = list(zip(each["counted"], each["mapped"], strict=True))
    again = list(zip(each["again"], each["mapped"], strict=True))
    added = median([(both - mapped) * 1e3 for both, mapped in pairs])
    ratio = median([both / mapped for both, mapped in pairs])
    control = median([other / mapped for other, mapped in again])
    return {
        "tokens": each["tokens"],
        "picks_a_layer": each["picks"],
        "kind": each["kind"],
        "layers": each["layers"],
        "mapped_us": median([mapped * 1e3 for mapped in each["mapped"]]).middle,
        "counted_us": median([both * 1e3 for both in each["counted"]]).middle,
        "added_us": [added.low, added.middle, added.high],
        "ratio": [ratio.low, ratio.middle, ratio.high],
        "self_control": [control.low, control.middle, control.high],
        "share_of_step": added.middle / 1e3 / STEP_MS,
        "within_bar": added.low / 1e3 / STEP_MS <= MOST_SHARE,
    }


def line(told: Mapping[str, Any]) -> str:
    """Tell it to people."""
    low, middle, high = told["added_us"]
    ratio, control = told["ratio"][1], told["self_control"][1]
    return (
        f"  {told['tokens']:>2} tokens, {told['kind']}: {told['mapped_us']:.1f} ->"
        f" {told['counted_us']:.1f} us a step of {told['layers']} layers, added {middle:.1f}"
        f" [{low:.1f}, {high:.1f}] us, {told['share_of_step']:.2%} of {STEP_MS} ms;"
        f" x{ratio:.3f}, self control x{control:.3f}"
    )
