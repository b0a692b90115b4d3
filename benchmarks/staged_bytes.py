"""What staging moves against what it saves: ``nox -s bench -- stage [LANE] [--prompts N]``.

One engine of the trained model, three maps with more and more cold picks, and prompts of rising lengths, each of them one step:
read in place, staged, and as the engine decides by the share that it has counted. In place a cold row is
read once for each pick, staged once a step. It ends with exit code 5 where bytes are not those of the
arithmetic, or where the engine's threshold is not where they cross.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.bounds import verdict
from benchmarks.inside_lane import Facts, run_inside
from expert_bank.staging.threshold import Cold
from lanewright.errors import ExitCode
from lanewright.terminal import emit

LANE, RECIPE = "cpu-staging", "qwen3-moe-trained"
# Of 64: a trained model's experts are used so unevenly that the maps differ much.
HOT = "49"
LENGTHS = (
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    10,
    12,
    14,
    16,
    18,
    20,
    24,
    28,
    32,
    40,
    48,
    64,
    96,
    128,
    256,
    400,
)
# Tokens under a map before it is measured: several times what an older reading lasts.
SETTLE = 32 * 1024
# The bytes of so many prompts scatter about the arithmetic's; this far from the crossing, as a part of
# it, they are apart.
NEAR = 0.25
Row = Mapping[str, Any]


def main() -> ExitCode:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("lane", nargs="?", default=LANE)
    parser.add_argument("--prompts", type=int, default=48, help="of each length")
    parser.add_argument("--seed", type=int, default=20261202)
    asked = parser.parse_args()
    spec = {"lengths": LENGTHS, "prompts": asked.prompts, "settle": SETTLE, "seed": asked.seed}
    engine = {
        "enforce_eager": True,
        "enable_prefix_caching": False,
        "max_model_len": 512,
        "moe_hot_experts": HOT,
        "moe_usage_counter": True,
    }
    with tempfile.TemporaryDirectory() as folder:
        given = "staged_bytes.py", asked.lane, engine, spec, Path(folder)
        found = run_inside(*given, recipe=RECIPE)
    for line in told(found):
        emit(line)
    return verdict(missed(found))


def told(found: Facts) -> Iterator[str]:
    """Write a line for each map and length."""
    cold, row = cold_of(found), found["row_bytes"][0]
    yield (
        f"{len(found['slots'])} MoE layers of {found['experts']} experts, {found['picks']} a token;"
        f" {cold.rows} cold rows of {row} bytes; bytes of a step:"
    )
    yield "  map         cold  tokens   in place    formula     staged    formula  engine"
    for each in found["rows"]:
        share, least = each["share"][-1], each["least"][-1]
        steps = each["in_place"]["steps"]
        in_place = each["in_place"]["cold_picks"] * row / steps
        moved = each["staged"]["staged_bytes"] / each["staged"]["steps"]
        decided = each["decided"]
        yield (
            f"  {each['map']:<10} {share:>5.1%} {each['length']:>7} {in_place:>10.0f}"
            f" {cold.reads(each['length'], share) * cold.rows * row:>10.0f} {moved:>10.0f}"
            f" {cold.rows * row:>10}  {decided['staged_steps']} of {decided['steps']} staged, from"
            f" {least} on"
        )


def missed(found: Facts) -> list[str]:
    """Say what is not as the arithmetic has it."""
    cold, row = cold_of(found), found["row_bytes"][0]
    wrong = []
    for each in found["rows"]:
        where = f"{each['map']}, {each['length']} tokens:"
        staged, decided = each["staged"], each["decided"]
        if staged["staged_bytes"] != staged["steps"] * cold.rows * row:
            wrong.append(f"{where} {staged['staged_bytes']} bytes in {staged['steps']} steps")
        if (
            each["in_place"]["staged_bytes"]
            or decided["staged_steps"] + decided["below"] != decided["steps"]
        ):
            wrong.append(f"{where} steps were neither staged nor below the threshold")
        wanted = {cold.least(share) for share in each["share"]}
        if {*each["least"]} != wanted:
            wrong.append(f"{where} the threshold is {each['least']}, and by the bytes {wanted}")
        takes = {each["length"] >= least for least in each["least"]}
        if len(takes) == 1 and (decided["staged_steps"] == decided["steps"]) is not takes.pop():
            wrong.append(f"{where} {decided['staged_steps']} steps were staged")
    for name in dict.fromkeys(each["map"] for each in found["rows"]):
        wrong += crossing(name, [each for each in found["rows"] if each["map"] == name], cold.rows)
    return wrong


def crossing(name: str, rows: Sequence[Row], staged: int) -> Iterator[str]:
    """Say where the measured bytes cross elsewhere than at the engine's threshold."""
    for each in rows:
        least = each["least"][-1]
        if abs(each["length"] - least) <= max(1, NEAR * least):
            continue
        read = each["in_place"]["cold_picks"] / each["in_place"]["steps"]
        if (read > staged) is not (each["length"] >= least):
            yield f"{name}, {each['length']} tokens: {read:.2f} rows in place against {staged}"


def cold_of(found: Facts) -> Cold:
    """What the arithmetic is made of."""
    return Cold.of(found["slots"], found["picks"])


if __name__ == "__main__":
    sys.exit(main())
