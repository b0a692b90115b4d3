"""How fast a replay is: ``nox -s bench -- replay [--tokens N] [--repeats N]``.

Picks a second of the maps and of LRU over drawn traffic with favourites, in the shape of the first
user's lane: 40 layers of 384 experts, 6 a token, 295 of them hot. And a query of MoE-Infinity's
collection beside NumPy's product of a matrix and a vector of the same size, in turns, with the two
times that the paper on it has (arXiv 2401.14361) printed beside it. All on one core. LRU over traffic
that prefers no expert, and with few rows, is told and held to nothing.

Where a bound is not kept, it ends with exit code 5.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.bounds import above, below, verdict
from benchmarks.intervals import Interval, median
from expert_bank.eams.collection import Collection
from lanewright.errors import ExitCode
from lanewright.residency.compared.maps import following
from lanewright.residency.compared.setting import Setting
from lanewright.residency.fixed import fixed_cold
from lanewright.residency.lru import lru_cold
from lanewright.residency.oracle import oracle_map
from lanewright.residency.trace import counted
from lanewright.terminal import emit
from tests.residency import requests, traffic

# NumPy reads it as it is imported; the bounds are of one core.
ONE_CORE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
LAYERS, EXPERTS, PICKS, ROWS, FEW = 40, 384, 6, 295, 60
HELD = ("fixed map", "following map", "LRU")
LEAST_PICKS = 5.0  # million a second
MOST_RATIO = 1.2
# EAMs of DeepSeek-V2-Lite (26 layers of 64 experts), and the paper's microseconds for a query.
EAM = (26, 64)
PAPER = {1000: 21, 10_000: 226}
QUERIES = 40


def main() -> ExitCode:
    """Run, and print a line for each policy and each size of a collection."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=8000, help="of the trace")
    parser.add_argument("--repeats", type=int, default=9, help="of each measurement")
    asked = parser.parse_args()
    missed = []
    emit(f"picks a second in millions, {LAYERS} layers, {ROWS} of {EXPERTS} hot; medians [95 %]")
    for policy, speed in speeds(asked.tokens, asked.repeats).items():
        emit(f"  {policy}: {speed.told(1)}")
        if policy in HELD:
            missed += below(f"{policy}: million picks a second", speed, LEAST_PICKS, 1)
    emit("a query of a collection, in us, and a NumPy product of its size; medians [95 %]")
    for count, paper in PAPER.items():
        query, product, ratio = queries(count, asked.repeats * QUERIES)
        emit(
            f"  {count} EAMs: {query.told(1)}, product {product.told(1)}, ratio {ratio.told(3)};"
            f" the paper has {paper}"
        )
        missed += above(f"{count} EAMs: a query, in products,", ratio, MOST_RATIO, 3)
    emit(f"  wanted: {LEAST_PICKS:g} million picks, ratios of {MOST_RATIO} at most")
    return verdict(missed)


def speeds(tokens: int, repeats: int) -> dict[str, Interval]:
    """Measure each policy's million picks a second."""
    ids, even = (
        kind(tokens, LAYERS, EXPERTS, PICKS) for kind in (traffic.matched, traffic.uniform)
    )
    rows, few = (ROWS,) * LAYERS, (FEW,) * LAYERS
    counts = counted(ids[: tokens // 4], EXPERTS)
    boot = oracle_map(counts, rows)
    setting = Setting(requests.recorded(ids, EXPERTS), boot, rows, 2**20)
    policies: dict[str, Callable[[], object]] = {
        "fixed map": lambda: fixed_cold(ids, boot),
        "following map": lambda: following(setting),
        "LRU": lambda: lru_cold(ids, boot, rows),
        "LRU, uniform traffic": lambda: lru_cold(even, boot, rows),
        f"LRU, {FEW} rows": lambda: lru_cold(ids, oracle_map(counts, few), few),
    }
    found: dict[str, list[float]] = {name: [] for name in policies}
    for _ in range(repeats):
        for name, run in policies.items():
            found[name].append(ids.size / _seconds(run) / 1e6)
    return {name: median(each) for name, each in found.items()}


def queries(count: int, repeats: int) -> tuple[Interval, Interval, Interval]:
    """Measure a query, a product of its size, and how many products a query takes."""
    layers, experts = EAM
    past = Collection(layers, experts, count)
    rng = np.random.Generator(np.random.PCG64(0))
    for eam in rng.integers(0, 40, (count, layers, experts)):
        past.add(eam)
    eam = past.eams[count // 2]
    matrix: NDArray[np.float32] = rng.random((count, layers * experts), np.float32)
    vector: NDArray[np.float32] = rng.random(layers * experts, np.float32)
    pairs = []
    for turn in range(repeats):
        # In turns, the one and the other first: neither is measured when the machine is slower.
        runs = (lambda: past.nearest(eam), lambda: matrix @ vector)
        times = {run: _seconds(run) for run in (runs if turn % 2 else runs[::-1])}
        pairs.append((times[runs[0]] * 1e6, times[runs[1]] * 1e6))
    one, other = zip(*pairs, strict=True)
    return median(one), median(other), median([query / product for query, product in pairs])


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


if __name__ == "__main__":
    if not ONE_CORE.items() <= os.environ.items():
        again = [sys.executable, "-m", "benchmarks.trace_replay", *sys.argv[1:]]
        os.execve(sys.executable, again, {**os.environ, **ONE_CORE})  # noqa: S606 - this very file
    sys.exit(main())
