"""One more entry: ours against the peers', in turn; and whole runs of ours.

Ours are measured twice: *known*, where the store has what the entries came to in an earlier build and
only the lock is gone, and *first time*, where it has their objects alone. The peers keep nothing.
"""

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.queue import peers
from benchmarks.queue.lane import Bench, Pull, release_pin
from benchmarks.queue.rows import Row, slope
from lanewright.store.git import Repository
from lanewright.store.objects import CommitId
from lanewright.terminal import say

QUILT_LEAST, AM_LEAST = 3.0, 8.0
BUILD_MOST, NO_CHANGE_MOST = 0.5, 0.3
MILLISECONDS = 1000
KNOWN, FIRST = "known", "first time"
Seconds = dict[str, dict[int, list[float]]]


def series_rows(
    bench: Bench,
    upstream: Path,
    main: Sequence[CommitId],
    pulls: Sequence[Pull],
    *,
    version: str,
    sizes: tuple[int, int],
    repeats: int,
) -> list[Row]:
    """Measure series of two sizes.

    Args:
        bench: Where ours are built; its store has the release.
        upstream: Repository with the pull requests.
        main: The commits of its main branch; the last is the release's tree.
        pulls: At least as many as the larger size.
        version: Of the release.
        sizes: How many entries each series has.
        repeats: How often each is built.
    """
    arms: dict[tuple[str, int], Callable[[], float]] = {}
    for size in sizes:
        lane, taken = f"of-{size}", pulls[:size]
        bench.lane(lane, release_pin(version), main[0], taken)
        bench.build(lane)
        for name, peer in _peers(bench, lane, upstream, main, taken).items():
            arms[name, size] = _seconds(peer)
        # In this order: the first makes known what the second takes.
        for name, known in ((FIRST, False), (KNOWN, True)):
            arms[name, size] = _ours(bench, lane, known=known)
    found: Seconds = {}
    for number in range(1, repeats + 1):
        for (name, size), push in arms.items():
            found.setdefault(name, {}).setdefault(size, []).append(push())
        say(f"series: {number} of {repeats} repeats")
    small = f"of-{sizes[0]}"
    same = [bench.run("build", small).seconds for _ in range(repeats)]
    return [
        *_entry_rows(found, sizes),
        _build_row(found, sizes[0], KNOWN, most=BUILD_MOST),
        _build_row(found, sizes[0], FIRST),
        Row("build, no change", statistics.median(same), "s", most=NO_CHANGE_MOST),
    ]


def _entry_rows(found: Seconds, sizes: tuple[int, int]) -> list[Row]:
    """What one more entry costs; the wanted ratios are held against those that are known."""
    wanted = {KNOWN: {"quilt": QUILT_LEAST, "git am -3": AM_LEAST}, FIRST: {}}
    return [
        Row(
            f"one more entry, {name} ({sizes[0]} to {sizes[1]})",
            slope(found[name]) * MILLISECONDS,
            "ms",
            peer,
            _slope_of(found, peer),
            least=bounds.get(peer),
        )
        for name, bounds in wanted.items()
        for peer in ("quilt", "git am -3")
    ]


def _build_row(found: Seconds, size: int, name: str, *, most: float | None = None) -> Row:
    took = statistics.median(found[name][size])
    return Row(f"build of {size} entries, {name}", took, "s", most=most)


def _peers(
    bench: Bench, lane: str, upstream: Path, main: Sequence[CommitId], pulls: Sequence[Pull]
) -> dict[str, peers.Am | peers.Quilt]:
    folder = bench.folder / "peers" / lane
    heads = [head for _, head in pulls]
    found: dict[str, peers.Am | peers.Quilt] = {
        "git am -3": peers.am(folder / "am", upstream, main[-1], main[0], heads)
    }
    lock, store = bench.lock(lane), Repository(bench.places.objects)
    if peers.has_quilt():
        trees = [lock.pin.tree, *(entry.tree for entry in lock.entries)]
        found["quilt"] = peers.quilt(folder / "quilt", upstream, main[-1], store, trees)
    return found


def _ours(bench: Bench, lane: str, *, known: bool) -> Callable[[], float]:
    return lambda: bench.build(lane, known=known).seconds


def _seconds(peer: peers.Am | peers.Quilt) -> Callable[[], float]:
    return lambda: peer.push().seconds


def _slope_of(found: Seconds, name: str) -> float | None:
    return slope(found[name]) * MILLISECONDS if name in found else None
