"""Paths that some file systems, and Python's import, take for one another."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lanewright.queue.guard.rules import Finding
from lanewright.store.objects import folders

THERE = -1


@dataclass(frozen=True)
class Brought:
    """A file that an entry brings.

    Attributes:
        path: Where.
        hunk: Id of its unit.
        entry: The entry's name.
    """

    path: str
    hunk: str
    entry: str


@lru_cache(maxsize=8192)
def fold(part: str) -> str:
    """A part of a path, without what tells twins apart."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", part).casefold())


def twins(present: Iterable[str], brought: Sequence[Brought]) -> Iterator[tuple[Brought, Finding]]:
    """Files that have, or whose folders have, a twin which was there before them.

    Of two that are brought, the later is told.

    Args:
        present: Every path of the lane's tree, those that are brought or not.
        brought: New files, in the order of the entries.
    """
    ranks: dict[str, int] = {}
    for rank, each in enumerate(brought):
        ranks.setdefault(each.path, rank)
    firsts: dict[str, int] = {}
    for path in {*present, *ranks}:
        rank = ranks.get(path, THERE)
        for node in (*folders(path), path):
            firsts[node] = min(rank, firsts.get(node, rank))
    alike: dict[tuple[str, ...], list[str]] = {}
    for node in sorted(firsts, key=firsts.__getitem__):
        alike.setdefault(tuple(map(fold, node.split("/"))), []).append(node)
    for each in brought:
        for node in (*folders(each.path), each.path):
            first = alike[tuple(map(fold, node.split("/")))][0]
            if first != node and firsts[first] < firsts[node]:
                what = "it" if node == each.path else f"its folder {_told(node)}"
                rank = firsts[first]
                by = f", which {brought[rank].entry} brings" if rank > THERE else ""
                why = f"{what} differs only in case or Unicode form from {_told(first)}{by}"
                yield each, Finding("twin", each.path, each.hunk, why)
                break


def _told(path: str) -> str:
    return path if path.isascii() else ascii(path)
